// eg.autograd.grad() and backward(), and their asynchronous forms.

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

const kGradients = new Rule<GivenGradients>(
  "a tensor, or an array of tensors and nulls",
  (value) =>
    Array.isArray(value)
      ? value.every((one) => one === undefined || isGradient(one))
      : isGradient(value),
).or(null);

const kOptions = {
  /** The gradients of the outputs, in the same order; may be omitted for outputs with one element. */
  gradOutputs: kGradients,
  ...kGradOptions,
};

const { inputs: kInputs, ...kGraph } = kBackwardOptions;

const kBackwardAllOptions = {
  /** The gradients of the tensors, in the same order; may be omitted for tensors with one element. */
  gradTensors: kGradients,
  ...kGraph,
  /** The deprecated name of `gradTensors`. */
  gradVariables: kGradients,
  /** The tensors whose gradients are accumulated; default: all leaves. */
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

/** Returns the gradients of the sum of `outputs` with respect to `inputs`, without changing any `grad`. */
export function grad(...given: GradArguments): (Tensor | null)[] {
  return gradientHandles(readGradCall("grad", given)).map(takeTensor);
}

/** Like grad(), but computes on another thread or, without threads, in time slices; see Tensor.backwardAsync(). */
export async function gradAsync(...given: GradArguments): Promise<(Tensor | null)[]> {
  return (await gradientHandlesAsync(readGradCall("gradAsync", given))).map(takeTensor);
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(tensors: Targets, ...rest: BackwardArguments): void {
  backwardFrom(toList(tensors), ...readBackwardCall("backward", rest));
}

/** Like backward(), but computes on another thread or, without threads, in time slices; see Tensor.backwardAsync(). */
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
    fail(
      "InvalidArgument",
      name,
      '"gradVariables" is an old name of "gradTensors": pass only one.',
    );
  }
  warnOfOldArgument(`${name}(): "gradVariables" is an old name. Use "gradTensors".`);
  return [gradientList(gradVariables), options];
}

function readGradCall(name: string, [outputs, inputs, ...rest]: GradArguments): GradCall {
  const { gradOutputs, onlyInputs, ...options } = readAfter(name, "inputs", kOptions, rest);
  if (!onlyInputs) {
    warnOfOldArgument(
      `${name}(): "onlyInputs" is ignored. Use backward() to accumulate gradients in leaves.`,
    );
  }
  const gradients = gradientList(gradOutputs);
  return { outputs: toList(outputs), inputs: toList(inputs), gradients, options };
}

function warnOfOldArgument(message: string): void {
  console.warn(`edgegrad: ${message}`);
}

function gradientList(given: GivenGradients): readonly GivenGradient[] {
  return given === null || given === undefined ? [] : toList(given);
}
