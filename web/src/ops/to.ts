// Tensor.to(): converts a tensor to another dtype or moves it to another device.

import { isPlainObject, readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { aliasOf } from "../dispatch/interpreter.js";
import { toDtype } from "../generated/internal.js";
import { checked, native } from "../runtime/bridge/bridge.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { type Device, type DType, deviceCode, deviceRule, dtypeRule } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

const kOptions = {
  /** The element type to convert to. */
  dtype: dtypeRule.optional(),
  /** The device to move to. */
  device: deviceRule.optional(),
};

/** Options of `to`. */
export type ToOptions = Options<typeof kOptions>;

/** A target of `to`: a dtype, a device, another tensor whose dtype and device are used, or options. */
export type Target = DType | Device | Tensor | ToOptions;

/** Returns a tensor converted to the targets, of which later ones override earlier ones; the tensor itself if nothing changes. */
export function convert(tensor: Tensor, targets: readonly Target[]): Tensor {
  let { dtype, device } = tensor;
  for (const target of targets) {
    const wanted = optionsOf(target);
    dtype = wanted.dtype ?? dtype;
    device = wanted.device ?? device;
  }
  if (device === tensor.device && dtype === tensor.dtype) return tensor;
  if (dtype === tensor.dtype) return copyToDevice(tensor, device);
  if (device === tensor.device) return toDtype(tensor, dtype);
  // The dtype is converted on the CPU, which supports all dtypes.
  const between = device === "cpu" ? copyToDevice(tensor, device) : toDtype(tensor, dtype);
  try {
    return device === "cpu" ? toDtype(between, dtype) : copyToDevice(between, device);
  } finally {
    between.dispose();
  }
}

function copyToDevice(tensor: Tensor, device: Device): Tensor {
  const handle = checked(native.toDevice(handleOf(tensor), deviceCode(device, "to")));
  return aliasOf(tensor, new Tensor(handle));
}

/** Returns the options that one target stands for. */
export function optionsOf(target: Target): ToOptions {
  if (target instanceof Tensor) return { dtype: target.dtype, device: target.device };
  if (isPlainObject(target)) return withoutGaps(readOptions("to", kOptions, [target]));
  if (deviceRule.accepts(target)) return { device: target as Device };
  if (dtypeRule.accepts(target)) return { dtype: target as DType };
  fail(
    "InvalidArgument",
    "to",
    `expected a device (${deviceRule.expected}), a dtype (${dtypeRule.expected}), a tensor or an object ` +
      `{ dtype?, device? }, got ${describe(target)}.${dtypeRule.adviceFor(target)}${deviceRule.adviceFor(target)}`,
  );
}

// Removes options that are undefined, so that they do not override earlier targets.
function withoutGaps({ dtype, device }: ToOptions): ToOptions {
  return { ...(dtype && { dtype }), ...(device && { device }) };
}
