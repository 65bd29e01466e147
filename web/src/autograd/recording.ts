// What derivatives that are taken of a function need of the modes around it: nothing.
//
// A function that is differentiated has a level of its own, on which ops are recorded: also where the caller records none,
// within noGrad(), inferenceMode() or a backward. What such a mode forbids is a graph that outlives the call: whoever
// takes the derivatives hands out results without history there.

import { clone } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { enableGrad, isGradEnabled } from "./grad_mode.js";
import { inferenceMode, isInferenceModeEnabled } from "./inference_mode.js";

/** Runs `fn` with ops recorded, whatever mode the caller is in, and returns its value. */
export function recording<T>(fn: () => T): T {
  return isInferenceModeEnabled() ? inferenceMode(false, fn) : enableGrad(fn);
}

/** Returns true when operations on tensors that require a gradient are recorded. */
export function opsAreRecorded(): boolean {
  return isGradEnabled() && !isInferenceModeEnabled();
}

/** Returns a leaf with the values of a tensor to differentiate by; call it while ops are recorded. */
export function freshLeaf(tensor: Tensor): Tensor {
  // No graph may keep an inference tensor.
  return (tensor.isInference ? clone(tensor) : tensor.detach()).requiresGrad_();
}
