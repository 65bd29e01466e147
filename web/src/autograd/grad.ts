// Gradients as values, and backward from several tensors at once.

import { type Arguments, readAfter } from "../arguments/read.js";
import { type Options, Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import { Tensor, takeTensor } from "../tensor/tensor.js";
import {
  type BackwardValues,
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

const isGradient = (value: unknown) => value === null || value instanceof Tensor;

const kGradients = new Rule<GivenGradients>("a tensor, or a list of tensors and nulls", (value) =>
  Array.isArray(value)
    ? value.every((one) => one === undefined || isGradient(one))
    : isGradient(value),
).or(null);

const kOptions = {
  /** Gradients of the outputs, in their order; a one-element output needs none. */
  gradOutputs: kGradients,
  ...kGradOptions,
};

const { inputs: kInputs, ...kGraph } = kBackwardOptions;

const kBackwardAllOptions = {
  /** Gradients of the tensors, in their order; a one-element tensor needs none. */
  gradTensors: kGradients,
  ...kGraph,
  /** An old name of `gradTensors`. */
  gradVariables: kGradients,
  /** Add gradients to these tensors only, instead of to all leaves. */
  inputs: kInputs,
};

/** Options of `grad`. */
export type GradOptions = Options<typeof kOptions>;

/** Options of `backward`. */
export type BackwardAllOptions = Options<typeof kBackwardAllOptions>;

type Targets = GradTarget | readonly GradTarget[];

type GradArguments = [
  outputs: Targets,
  inputs: Targets,
  ...rest: Arguments<
    [
      gradOutputs: GivenGradients,
      retainGraph: boolean | null,
      createGraph: boolean,
      onlyInputs: boolean,
      allowUnused: boolean,
      isGradsBatched: boolean,
      materializeGrads: boolean,
    ],
    GradOptions
  >,
];

type BackwardArguments = Arguments<
  [
    gradTensors: GivenGradients,
    retainGraph: boolean | null,
    createGraph: boolean,
    gradVariables: GivenGradients,
    inputs: Targets,
  ],
  BackwardAllOptions
>;

/** Returns the gradients of the sum of `outputs` with respect to `inputs`; no `grad` changes. */
export function grad(...given: GradArguments): (Tensor | null)[] {
  return gradientHandles(readGradCall("grad", given)).map(takeTensor);
}

/** Like grad(), but the work is done on another thread. */
export async function gradAsync(...given: GradArguments): Promise<(Tensor | null)[]> {
  return (await gradientHandlesAsync(readGradCall("gradAsync", given))).map(takeTensor);
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(tensors: Targets, ...rest: BackwardArguments): void {
  backwardFrom(toList(tensors), ...readBackwardCall("backward", rest));
}

/** Like backward(), but the work is done on another thread or, without threads, in pieces; see Tensor.backwardAsync(). */
export async function backwardAsync(tensors: Targets, ...rest: BackwardArguments): Promise<void> {
  await backwardAsyncFrom(toList(tensors), ...readBackwardCall("backwardAsync", rest));
}

function readBackwardCall(
  name: string,
  rest: readonly unknown[],
): [gradients: readonly GivenGradient[], options: BackwardValues] {
  const { gradTensors, gradVariables, ...options } = readAfter(
    name,
    "tensors",
    kBackwardAllOptions,
    rest,
  );
  if (gradVariables === null) return [gradientList(gradTensors), options];
  if (gradTensors !== null) {
    fail("InvalidArgument", name, '"gradVariables" is an old name of "gradTensors": give one.');
  }
  warnOfOldArgument(`${name}(): "gradVariables" is an old name, use "gradTensors".`);
  return [gradientList(gradVariables), options];
}

function readGradCall(name: string, [outputs, inputs, ...rest]: GradArguments): GradCall {
  const { gradOutputs, onlyInputs, ...options } = readAfter(name, "inputs", kOptions, rest);
  if (!onlyInputs) {
    warnOfOldArgument(`${name}(): "onlyInputs" is ignored; backward() adds gradients to leaves.`);
  }
  const gradients = gradientList(gradOutputs);
  return { outputs: toList(outputs), inputs: toList(inputs), gradients, options };
}

function warnOfOldArgument(told: string): void {
  console.warn(`edgegrad: ${told}`);
}

function gradientList(given: GivenGradients): readonly GivenGradient[] {
  return given === null || given === undefined ? [] : toList(given);
}
