// Window functions: weights that fade the samples at both ends of a piece of a signal.

import { compositeFactory } from "../composite.js";
import { cosines, kaiserOf, triangle } from "./window_shapes.js";

const kLine = "windowLength:int periodic:bool=true dtype:dtype?=null";

/** A raised cosine: 0.5 - 0.5 cos. A periodic window, for spectra, omits the last sample. */
export const hannWindow = /* @__PURE__ */ compositeFactory(
  "hannWindow",
  kLine,
  (windowLength, periodic, dtype) =>
    cosines("hannWindow", windowLength, periodic, dtype, [0.5, 0.5]),
);

/** Hamming's window: alpha - beta cos. */
export const hammingWindow = /* @__PURE__ */ compositeFactory(
  "hammingWindow",
  "windowLength:int periodic:bool=true alpha:number=0.54 beta:number=0.46 dtype:dtype?=null",
  (windowLength, periodic, alpha, beta, dtype) =>
    cosines("hammingWindow", windowLength, periodic, dtype, [alpha, beta]),
);

/** Blackman's window: 0.42 - 0.5 cos + 0.08 cos of twice that. */
export const blackmanWindow: typeof hannWindow = /* @__PURE__ */ compositeFactory(
  "blackmanWindow",
  kLine,
  (windowLength, periodic, dtype) =>
    cosines("blackmanWindow", windowLength, periodic, dtype, [0.42, 0.5, 0.08]),
);

/** A triangular window. */
export const bartlettWindow: typeof hannWindow = /* @__PURE__ */ compositeFactory(
  "bartlettWindow",
  kLine,
  (windowLength, periodic, dtype) => triangle("bartlettWindow", windowLength, periodic, dtype),
);

/** Kaiser's window, narrower for a larger `beta`. */
export const kaiserWindow = /* @__PURE__ */ compositeFactory(
  "kaiserWindow",
  "windowLength:int periodic:bool=true beta:number=12 dtype:dtype?=null",
  (windowLength, periodic, beta, dtype) =>
    kaiserOf("kaiserWindow", windowLength, periodic, dtype, beta),
);
