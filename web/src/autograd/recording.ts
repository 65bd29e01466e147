// Recording for functions that compute derivatives of a function, independent of the caller's modes.
//
// The ops of a function that is differentiated are always recorded, even if the caller is inside noGrad(), inferenceMode() or a
// backward call. Such a mode only forbids a graph that outlives the call, so the functions that compute derivatives detach their
// results there.

import { clone } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { enableGrad, isGradEnabled } from "./grad_mode.js";
import { inferenceMode, isInferenceModeEnabled } from "./inference_mode.js";

/** Runs `fn` with ops recorded, whatever the caller's mode, and returns its value. */
export function recording<T>(fn: () => T): T {
  return isInferenceModeEnabled() ? inferenceMode(false, fn) : enableGrad(fn);
}

/** Returns true when operations on tensors that require a gradient are recorded. */
export function opsAreRecorded(): boolean {
  return isGradEnabled() && !isInferenceModeEnabled();
}

/** Returns a leaf with the values of a tensor, to differentiate with respect to; must be called while ops are recorded. */
export function freshLeaf(tensor: Tensor): Tensor {
  // A graph must not hold an inference tensor.
  return (tensor.isInference ? clone(tensor) : tensor.detach()).requiresGrad_();
}
