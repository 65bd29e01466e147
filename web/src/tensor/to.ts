// Tensor.to(): the same data with another dtype or on another device.

import { toDtype } from "../generated/internal.js";
import { checked, native } from "../runtime/bridge.js";
import { checkDevice, type Device, type DType, dtypeCode } from "./dtype.js";
import { handleOf } from "./info.js";
import { Tensor } from "./tensor.js";

/** Options of `to`. */
export interface ToOptions {
  dtype?: DType;
  device?: Device;
}

/** What a tensor can be converted to, or like. */
export type Target = DType | Device | Tensor | ToOptions;

/** Returns a tensor converted to what the targets say; the last one wins. */
export function convert(tensor: Tensor, targets: readonly Target[]): Tensor {
  const own = tensor.dtype;
  let dtype = own;
  for (const target of targets) {
    const wanted = optionsOf(target);
    checkDevice(wanted.device, "to");
    dtype = wanted.dtype ?? dtype;
  }
  // PyTorch returns the tensor itself; a handle of its own can be disposed independently.
  if (dtype === own) return new Tensor(checked(native.retain(handleOf(tensor))));
  return toDtype(tensor, dtype);
}

/** Returns what one target says. */
export function optionsOf(target: Target): ToOptions {
  if (target instanceof Tensor) return { dtype: target.dtype, device: target.device };
  if (typeof target === "object") return target;
  if (target === "cpu" || target === "webgpu") return { device: target };
  dtypeCode(target, "to");
  return { dtype: target };
}
