// Gradients as values, and backward from several tensors at once.

import { takeTensor } from "../tensor/hooks.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type BackwardOptions,
  backwardAsyncFrom,
  backwardFrom,
  type GivenGradient,
  type GradCall,
  type GradTarget,
  gradientHandles,
  gradientHandlesAsync,
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
  /** The first dimension of every gradient of an output counts a batch; so it does of the results. */
  isGradsBatched?: boolean;
}

/** Options of `backward`. */
export interface BackwardAllOptions extends BackwardOptions {
  /** Gradients of the tensors, in their order; a one-element tensor needs none. */
  gradTensors?: GivenGradient | readonly GivenGradient[];
}

/** Returns the gradients of the sum of `outputs` with respect to `inputs`; no `grad` changes. */
export function grad(
  outputs: GradTarget | readonly GradTarget[],
  inputs: GradTarget | readonly GradTarget[],
  options: GradOptions = {},
): (Tensor | null)[] {
  return gradientHandles(gradCall(outputs, inputs, options)).map(takeTensor);
}

/** Like grad(), but the work is done on another thread. */
export async function gradAsync(
  outputs: GradTarget | readonly GradTarget[],
  inputs: GradTarget | readonly GradTarget[],
  options: GradOptions = {},
): Promise<(Tensor | null)[]> {
  return (await gradientHandlesAsync(gradCall(outputs, inputs, options))).map(takeTensor);
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(
  tensors: GradTarget | readonly GradTarget[],
  options: BackwardAllOptions = {},
): void {
  backwardFrom(toList(tensors), toList(options.gradTensors ?? []), options);
}

/** Like backward(), but the work is done on another thread; hooks run on the one that registered them. */
export async function backwardAsync(
  tensors: GradTarget | readonly GradTarget[],
  options: BackwardAllOptions = {},
): Promise<void> {
  await backwardAsyncFrom(toList(tensors), toList(options.gradTensors ?? []), options);
}

function gradCall(
  outputs: GradTarget | readonly GradTarget[],
  inputs: GradTarget | readonly GradTarget[],
  options: GradOptions,
): GradCall {
  const gradients = toList(options.gradOutputs ?? []);
  return { outputs: toList(outputs), inputs: toList(inputs), gradients, options };
}
