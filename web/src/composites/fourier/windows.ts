// Window functions: weights that fade the samples at both ends of a piece of a signal.

import { toDtype } from "../../generated/internal.js";
import {
  abs,
  add,
  arange,
  clamp,
  cos,
  div,
  mul,
  ones,
  onesLike,
  sqrt,
  square,
  sub,
} from "../../generated/ops.js";
import { full, type TensorOptions } from "../../ops/create.js";
import { fail } from "../../runtime/errors.js";
import { getDefaultDtype } from "../../tensor/default_dtype.js";
import { type DType, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { compositeFactory } from "../composite.js";

interface Window {
  (windowLength: number, periodic?: boolean, options?: TensorOptions): Tensor;
  (windowLength: number, options: TensorOptions & { periodic?: boolean }): Tensor;
}

// For arguments that need more terms the function overflows to infinity.
const kMostTerms = 1000;

const kLine = "windowLength:int periodic:bool=true dtype:dtype?=null";

/** A raised cosine: 0.5 - 0.5 cos. A periodic window, for spectra, omits the last sample. */
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

/** A triangular window. */
export const bartlettWindow: Window = /* @__PURE__ */ compositeFactory(
  "bartlettWindow",
  kLine,
  (length: number, periodic: boolean, dtype: DType | null) =>
    windowOf("bartlettWindow", length, periodic, dtype, (position) =>
      sub(1, abs(sub(mul(position, 2), 1))),
    ),
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
    windowOf("kaiserWindow", length, periodic, dtype, (position) => {
      const height = sqrt(clamp(sub(1, square(sub(mul(position, 2), 1))), 0));
      return div(
        bessel(mul(height, beta), beta),
        bessel(full([], beta, { dtype: "float64" }), beta),
      );
    }),
);

// A sum of cosines of increasing frequency with these factors and alternating signs.
function cosines(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  factors: readonly number[],
): Tensor {
  return windowOf(caller, length, periodic, dtype, (position) =>
    factors
      .map((factor, k) => mul(cos(mul(position, 2 * Math.PI * k)), k % 2 === 0 ? factor : -factor))
      .reduce((sum, one) => add(sum, one)),
  );
}

// `weightsAt` receives positions from 0 to 1, in a higher precision than that of the window.
function windowOf(
  caller: string,
  length: number,
  periodic: boolean,
  dtype: DType | null,
  weightsAt: (positions: Tensor) => Tensor,
): Tensor {
  if (length < 0) {
    fail("InvalidArgument", caller, `windowLength: expected 0 or more, got ${length}.`);
  }
  if (dtype !== null && !isFloat(dtype)) {
    fail("DtypeMismatch", caller, `dtype: expected float32 or float64, got ${dtype}.`);
  }
  if (length === 1) return ones([1], { dtype: dtype ?? getDefaultDtype() });
  const positions = div(arange(length, { dtype: "float64" }), periodic ? length : length - 1);
  return toDtype(weightsAt(positions), dtype ?? getDefaultDtype());
}

// The modified Bessel function of order 0 for arguments up to `most`, by its series, whose terms are all positive.
function bessel(x: Tensor, most: number): Tensor {
  const quarter = square(div(x, 2));
  const largest = (most / 2) ** 2;
  let [term, bound, sum] = [onesLike(x), 1, onesLike(x)];
  for (let k = 1; bound > Number.EPSILON && k < kMostTerms; k++) {
    term = mul(term, div(quarter, k * k));
    bound *= largest / (k * k);
    sum = add(sum, term);
  }
  return sum;
}
