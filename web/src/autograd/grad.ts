// Gradients as values, and backward from several tensors at once.

import { zerosLike } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import {
  type BackwardOptions,
  backwardFrom,
  type GivenGradient,
  gradientHandles,
  toList,
} from "./run.js";

/** Options of `grad`. */
export interface GradOptions {
  /** Gradients of the outputs, in their order; a one-element output needs none. */
  gradOutputs?: GivenGradient | readonly GivenGradient[];
  /** Keep what backward needs, for another call; default: createGraph. */
  retainGraph?: boolean;
  /** Record the computation of the gradients, for derivatives of derivatives. */
  createGraph?: boolean;
  /** Return null for an input the outputs do not depend on, instead of failing. */
  allowUnused?: boolean;
  /** Return zeros instead of null for such an input. */
  materializeGrads?: boolean;
}

/** Options of `backward`. */
export interface BackwardAllOptions extends BackwardOptions {
  /** Gradients of the tensors, in their order; a one-element tensor needs none. */
  gradTensors?: GivenGradient | readonly GivenGradient[];
}

/** Returns the gradients of the sum of `outputs` with respect to `inputs`; no `grad` changes. */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: Tensor | readonly Tensor[],
  options: GradOptions = {},
): (Tensor | null)[] {
  const { materializeGrads = false, gradOutputs = [] } = options;
  if (materializeGrads && options.allowUnused === false) {
    fail(
      "InvalidArgument",
      "grad",
      "Expected allowUnused to be true or not passed when materializeGrads is true.",
    );
  }
  const targets = toList(inputs);
  const allowUnused = options.allowUnused ?? materializeGrads;
  const handles = gradientHandles(toList(outputs), targets, toList(gradOutputs), {
    ...options,
    allowUnused,
  });
  const grads = handles.map((handle) => (handle === 0 ? null : new Tensor(handle)));
  if (!materializeGrads) return grads;
  return grads.map((one, i) => one ?? zerosLike(targets[i] as Tensor, { requiresGrad: true }));
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(
  tensors: Tensor | readonly Tensor[],
  options: BackwardAllOptions = {},
): void {
  backwardFrom(toList(tensors), toList(options.gradTensors ?? []), options);
}
