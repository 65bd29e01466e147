// What every function that makes a tensor does with it, whatever the tensor is made of.

import { boolean } from "../arguments/rule.js";
import { checkDevice, deviceRule } from "./dtype.js";
import type { Tensor } from "./tensor.js";

/** Options of all functions that make tensors. */
export const kPlaceOptions = {
  device: deviceRule.or("cpu"),
  requiresGrad: boolean.or(false),
};

/** Checks the options of a function that makes a tensor; returns whether it is to be recorded. */
export function readPlace(where: string, device: unknown, requiresGrad: unknown): boolean {
  checkDevice(device, where);
  return kPlaceOptions.requiresGrad.check(where, "requiresGrad", requiresGrad);
}

/** Returns a fresh tensor after requiring its gradient; frees it when it can have none. */
export function recorded(tensor: Tensor): Tensor {
  try {
    return tensor.requiresGrad_();
  } catch (error) {
    tensor.dispose();
    throw error;
  }
}
