// Window functions: weights that fade the samples at both ends of a piece of a signal.

import type { DType } from "../../tensor/dtype.js";
import type { TensorOptions } from "../../tensor/factory_options.js";
import type { Tensor } from "../../tensor/tensor.js";
import { compositeFactory } from "../composite.js";
import { cosines, kaiserOf, triangle } from "./window_shapes.js";

interface Window {
  (windowLength: number, periodic?: boolean, options?: TensorOptions): Tensor;
  (windowLength: number, options: TensorOptions & { periodic?: boolean }): Tensor;
}

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
    triangle("bartlettWindow", length, periodic, dtype),
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
    kaiserOf("kaiserWindow", length, periodic, dtype, beta),
);
