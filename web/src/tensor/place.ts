// What every function that makes a tensor does with it, whatever the tensor is made of.

import { boolean } from "../arguments/rule.js";
import { type Device, deviceRule } from "./dtype.js";
import type { Tensor } from "./tensor.js";

/** Options of all functions that make tensors. */
export const kPlaceOptions = {
  device: deviceRule.or("cpu"),
  requiresGrad: boolean.or(false),
};

/** What the options say. */
export interface Place {
  readonly device: Device;
  readonly requiresGrad: boolean;
}

/** Checks the options of a function that makes a tensor. */
export function readPlace(where: string, device: unknown, requiresGrad: unknown): Place {
  return {
    device: kPlaceOptions.device.check(where, "device", device),
    requiresGrad: kPlaceOptions.requiresGrad.check(where, "requiresGrad", requiresGrad),
  };
}

/** Returns a fresh tensor of the CPU where it is wanted, requiring its gradient if asked to; frees it on failure. */
export function placed(fresh: Tensor, { device, requiresGrad }: Place): Tensor {
  let tensor = fresh;
  try {
    if (device !== "cpu") {
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
