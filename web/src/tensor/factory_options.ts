// The options { device, requiresGrad } that all functions that make tensors share.

import { boolean } from "../arguments/rule.js";
import { type Device, deviceRule } from "./dtype.js";
import type { Tensor } from "./tensor.js";

/** Options of all functions that make tensors. */
export const kFactoryOptions = {
  /** The device of the tensor; default: that of the tensor it is made from, or else "cpu". */
  device: deviceRule.optional(),
  requiresGrad: boolean.or(false),
};

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
