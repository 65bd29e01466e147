// Gradients as values, and backward from several tensors at once.

import { readOptions } from "../arguments/read.js";
import { type Options, unchecked } from "../arguments/rule.js";
import { type Tensor, takeTensor } from "../tensor/tensor.js";
import {
  backwardAsyncFrom,
  backwardFrom,
  type GivenGradient,
  type GradCall,
  type GradTarget,
  gradientHandles,
  gradientHandlesAsync,
  kBackwardOptions,
  kGradOptions,
  toList,
} from "./run.js";

type GivenGradients = GivenGradient | readonly GivenGradient[];

const kGradients = unchecked<GivenGradients>().or(null);

const kOptions = {
  /** Gradients of the outputs, in their order; a one-element output needs none. */
  gradOutputs: kGradients,
  ...kGradOptions,
};

const kBackwardAllOptions = {
  /** Gradients of the tensors, in their order; a one-element tensor needs none. */
  gradTensors: kGradients,
  ...kBackwardOptions,
};

/** Options of `grad`. */
export type GradOptions = Options<typeof kOptions>;

/** Options of `backward`. */
export type BackwardAllOptions = Options<typeof kBackwardAllOptions>;

type Targets = GradTarget | readonly GradTarget[];

type GradArguments = [outputs: Targets, inputs: Targets, options?: GradOptions];

/** Returns the gradients of the sum of `outputs` with respect to `inputs`; no `grad` changes. */
export function grad(...given: GradArguments): (Tensor | null)[] {
  return gradientHandles(readGradCall("grad", given)).map(takeTensor);
}

/** Like grad(), but the work is done on another thread. */
export async function gradAsync(...given: GradArguments): Promise<(Tensor | null)[]> {
  return (await gradientHandlesAsync(readGradCall("gradAsync", given))).map(takeTensor);
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(tensors: Targets, ...rest: [options?: BackwardAllOptions]): void {
  const { gradTensors, ...options } = readOptions("backward", kBackwardAllOptions, rest);
  backwardFrom(toList(tensors), gradientList(gradTensors), options);
}

/** Like backward(), but the work is done on another thread or, without threads, in pieces; see Tensor.backwardAsync(). */
export async function backwardAsync(
  tensors: Targets,
  ...rest: [options?: BackwardAllOptions]
): Promise<void> {
  const { gradTensors, ...options } = readOptions("backwardAsync", kBackwardAllOptions, rest);
  await backwardAsyncFrom(toList(tensors), gradientList(gradTensors), options);
}

function readGradCall(name: string, [outputs, inputs, ...rest]: GradArguments): GradCall {
  const { gradOutputs, ...options } = readOptions(name, kOptions, rest);
  const gradients = gradientList(gradOutputs);
  return { outputs: toList(outputs), inputs: toList(inputs), gradients, options };
}

function gradientList(given: GivenGradients): readonly GivenGradient[] {
  return given === null || given === undefined ? [] : toList(given);
}
