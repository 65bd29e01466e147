// The dtype of floats that nobody gave one.

import { native } from "../runtime/bridge.js";
import { type DType, dtypeCode, dtypeOf, oneOfDTypes } from "./dtype.js";

const kFloats = /* @__PURE__ */ oneOfDTypes<DType>("float32", "float64", "float16", "bfloat16");

/**
 * Makes this the dtype of new tensors of floats that are given none: of zeros() and its like, of tensor() of plain
 * numbers, of the parameters of layers, of what division makes of integers. Complex numbers follow. It holds for the
 * thread that calls it; "float32" at the start.
 */
export function setDefaultDtype(dtype: DType): void {
  native.setDefaultDtype(
    dtypeCode(kFloats.check("setDefaultDtype", "dtype", dtype), "setDefaultDtype"),
  );
}

/** Returns the dtype of new tensors of floats that are given none. */
export function getDefaultDtype(): DType {
  return dtypeOf(native.defaultDtype());
}

/** Returns the dtype of complex numbers whose parts are such floats. */
export function defaultComplexDtype(): DType {
  return getDefaultDtype() === "float64" ? "complex128" : "complex64";
}
