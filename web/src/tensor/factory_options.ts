// What every function that makes a tensor does with it, whatever the tensor is made of.

import { boolean } from "../arguments/rule.js";
import { type Device, deviceRule } from "./dtype.js";
import type { Tensor } from "./tensor.js";

/** Options of all functions that make tensors. */
export const kFactoryOptions = {
  /** Where the tensor is to be; default that of the tensor it is made from, else "cpu". */
  device: deviceRule.optional(),
  requiresGrad: boolean.or(false),
};

/** What the options say. */
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

/** Returns a fresh tensor where it is wanted, requiring its gradient if asked to; frees it on failure. */
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
