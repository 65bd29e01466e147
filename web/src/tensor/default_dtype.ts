// The default dtype of floating-point tensors.

import { native } from "../runtime/bridge/bridge.js";
import { type DType, dtypeCode, dtypeOf, oneOfDTypes } from "./dtype.js";

const kFloats = /* @__PURE__ */ oneOfDTypes<DType>("float32", "float64", "float16", "bfloat16");

/**
 * Sets the dtype of new floating-point tensors for which none is given: those of zeros() and similar functions, of tensor()
 * from plain numbers, the parameters of layers, the quotients of integers. The default complex dtype has parts of this
 * precision. The setting applies to the calling thread; it is "float32" at the start.
 */
export function setDefaultDtype(dtype: DType): void {
  native.setDefaultDtype(
    dtypeCode(kFloats.check("setDefaultDtype", "dtype", dtype), "setDefaultDtype"),
  );
}

/** Returns the dtype of new floating-point tensors for which none is given. */
export function getDefaultDtype(): DType {
  return dtypeOf(native.defaultDtype());
}

/** Returns the complex dtype that matches the default dtype. */
export function defaultComplexDtype(): DType {
  const parts = getDefaultDtype();
  if (parts === "float16") return "complex32";
  return parts === "float64" ? "complex128" : "complex64";
}
