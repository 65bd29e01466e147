// Windows: weights that let the samples of a piece of a signal fade at its ends.

import { type TensorOptions, tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { compositeFactory } from "../composite.js";
import { isFloat } from "../constants.js";

interface Window {
  (windowLength: number, periodic?: boolean, options?: TensorOptions): Tensor;
  (windowLength: number, options: TensorOptions & { periodic?: boolean }): Tensor;
}

const kLine = "windowLength:int periodic:bool=true dtype:dtype?=null";

/** A raised cosine: 0.5 - 0.5 cos. A periodic window is one for spectra, which leaves the last sample out. */
export const hannWindow: Window = /* @__PURE__ */ compositeFactory(
  "hannWindow",
  kLine,
  (length: number, periodic: boolean, dtype: DType | null) =>
    cosines("hannWindow", length, periodic, dtype, [0.5, 0.5]),
);

/** Hamming's window: alpha - beta cos. */
export const hammingWindow: {
  (
    windowLength: number,
    periodic?: boolean,
    alpha?: number,
    beta?: number,
    options?: TensorOptions,
  ): Tensor;
  (
    windowLength: number,
    options: TensorOptions & { periodic?: boolean; alpha?: number; beta?: number },
  ): Tensor;
  (
    windowLength: number,
    periodic: boolean,
    options: TensorOptions & { alpha?: number; beta?: number },
  ): Tensor;
} = /* @__PURE__ */ compositeFactory(
  "hammingWindow",
  "windowLength:int periodic:bool=true alpha:number=0.54 beta:number=0.46 dtype:dtype?=null",
  (length: number, periodic: boolean, alpha: number, beta: number, dtype: DType | null) =>
    cosines("hammingWindow", length, periodic, dtype, [alpha, beta]),
);

/** Blackman's window: 0.42 - 0.5 cos + 0.08 cos of twice that. */
export const blackmanWindow: Window = /* @__PURE__ */ compositeFactory(
  "blackmanWindow",
  kLine,
  (length: number, periodic: boolean, dtype: DType | null) =>
    cosines("blackmanWindow", length, periodic, dtype, [0.42, 0.5, 0.08]),
);

/** A triangle. */
export const bartlettWindow: Window = /* @__PURE__ */ compositeFactory(
  "bartlettWindow",
  kLine,
  (length: number, periodic: boolean, dtype: DType | null) =>
    windowOf("bartlettWindow", length, periodic, dtype, (place) => 1 - Math.abs(2 * place - 1)),
);

/** Kaiser's window, narrower for a larger `beta`. */
export const kaiserWindow: {
  (windowLength: number, periodic?: boolean, beta?: number, options?: TensorOptions): Tensor;
  (windowLength: number, options: TensorOptions & { periodic?: boolean; beta?: number }): Tensor;
  (windowLength: number, periodic: boolean, options: TensorOptions & { beta?: number }): Tensor;
} = /* @__PURE__ */ compositeFactory(
  "kaiserWindow",
  "windowLength:int periodic:bool=true beta:number=12 dtype:dtype?=null",
  (length: number, periodic: boolean, beta: number, dtype: DType | null) =>
    windowOf("kaiserWindow", length, periodic, dtype, (place) => {
      const height = Math.sqrt(Math.max(1 - (2 * place - 1) ** 2, 0));
      return bessel(beta * height) / bessel(beta);
    }),
);

// Cosines of rising frequency with these factors, of which every second is subtracted.
function cosines(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  factors: readonly number[],
): Tensor {
  return windowOf(caller, length, periodic, dtype, (place) =>
    factors
      .map((factor, k) => (k % 2 === 0 ? factor : -factor) * Math.cos(2 * Math.PI * k * place))
      .reduce((sum, one) => sum + one),
  );
}

// `weightAt` is given places from 0 to 1.
function windowOf(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  weightAt: (place: number) => number,
): Tensor {
  if (length < 0) {
    fail("InvalidArgument", caller, `window_length must be non-negative, got ${length}.`);
  }
  if (dtype !== null && !isFloat(dtype)) {
    fail("DtypeMismatch", caller, `expected a floating point dtype, got ${dtype}.`);
  }
  const steps = periodic ? length : length - 1;
  const weights = Array.from({ length }, (_, i) => (length === 1 ? 1 : weightAt(i / steps)));
  return tensor(weights, { dtype: dtype ?? "float32" });
}

// The modified Bessel function of order 0, by its series, whose terms are all positive.
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * Number.EPSILON; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}
