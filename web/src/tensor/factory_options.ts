// The options { dtype, device, requiresGrad } that functions that make tensors share.

import { boolean, type Options } from "../arguments/rule.js";
import { type Device, deviceRule, dtypeRule } from "./dtype.js";
import type { Tensor } from "./tensor.js";

/** Options of all functions that make tensors. */
export const kFactoryOptions = {
  /** The device of the tensor; default: that of the tensor it is made from, or else "cpu". */
  device: deviceRule.optional(),
  requiresGrad: boolean.or(false),
};

/** The options of those that choose a dtype, too. */
export const kTensorOptions = {
  /** The element type; default: that of the data. */
  dtype: dtypeRule.orNull(),
  /** The device of the tensor; default: the CPU. */
  device: kFactoryOptions.device,
  /** Whether to record operations on the new tensor; default false. */
  requiresGrad: kFactoryOptions.requiresGrad,
};

/** Options of functions that make tensors. */
export interface TensorOptions extends Options<typeof kTensorOptions> {}

/** The checked options. */
export interface FactoryOptions {
  readonly device: Device | undefined;
  readonly requiresGrad: boolean;
}

/** Checks the options of a function that makes a tensor. */
export function readFactoryOptions(
  where: string,
  device: unknown,
  requiresGrad: unknown,
): FactoryOptions {
  return {
    device: kFactoryOptions.device.check(where, "device", device),
    requiresGrad: kFactoryOptions.requiresGrad.check(where, "requiresGrad", requiresGrad),
  };
}

/** Returns a fresh tensor on the given device and with the given requiresGrad; frees it on failure. */
export function withFactoryOptions(
  fresh: Tensor,
  { device, requiresGrad }: FactoryOptions,
): Tensor {
  let tensor = fresh;
  try {
    if (device !== undefined && device !== fresh.device) {
      tensor = fresh.to(device);
      fresh.dispose();
    }
    return requiresGrad ? tensor.requiresGrad_() : tensor;
  } catch (error) {
    fresh.dispose();
    tensor.dispose();
    throw error;
  }
}
