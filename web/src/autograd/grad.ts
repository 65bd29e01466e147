// eg.autograd.grad() and backward(), and their asynchronous forms.

import { type Arguments, readAfter } from "../arguments/read.js";
import { type Options, Rule } from "../arguments/rule.js";
import { interpreter } from "../dispatch/interpreter.js";
import { fail } from "../runtime/errors/errors.js";
import type { AbortSignalLike } from "../runtime/host/abort.js";
import { Tensor, takeTensor } from "../tensor/tensor.js";
import {
  type BackwardAsyncValues,
  backwardAsyncFrom,
  backwardFrom,
  type GivenGradient,
  type GradCall,
  type GradTarget,
  gradientHandles,
  gradientHandlesAsync,
  kAsyncOptions,
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
      ? value.every((item) => item === undefined || isGradient(item))
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

const kAsyncGradOptions = { ...kOptions, ...kAsyncOptions };
const kAsyncBackwardAllOptions = { ...kBackwardAllOptions, ...kAsyncOptions };

/** Options of `grad`. */
export type GradOptions = Options<typeof kOptions>;

/** Options of `gradAsync`. */
export type GradAsyncOptions = Options<typeof kOptions & typeof kAsyncOptions>;

/** Options of `backward`. */
export type BackwardAllOptions = Options<typeof kBackwardAllOptions>;

/** Options of `backwardAsync`. */
export type BackwardAllAsyncOptions = Options<typeof kBackwardAllOptions & typeof kAsyncOptions>;

type Targets = GradTarget | readonly GradTarget[];

/** Calls that do not allow unused inputs, for which no gradient is null. */
type UsedGradArguments<Named> = [
  outputs: Targets,
  inputs: Targets,
  ...rest: Arguments<
    [
      gradOutputs: GivenGradients,
      retainGraph: boolean | null,
      createGraph: boolean,
      onlyInputs: boolean,
      allowUnused: false,
    ],
    Named & { readonly allowUnused?: false | undefined }
  >,
];

type GradArguments<Named = GradOptions> = [
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
    Named
  >,
];

type BackwardArguments<Named = BackwardAllOptions> = Arguments<
  [
    gradTensors: GivenGradients,
    retainGraph: boolean | null,
    createGraph: boolean,
    gradVariables: GivenGradients,
    inputs: Targets,
  ],
  Named
>;

/**
 * Returns the gradients of the sum of `outputs` with respect to `inputs`, without changing any `grad`. With `allowUnused` the gradient of an
 * input that the outputs do not depend on is null; otherwise such an input throws UnusedInput.
 */
export function grad(...given: UsedGradArguments<GradOptions>): Tensor[];
export function grad(...given: GradArguments): (Tensor | null)[];
export function grad(...given: GradArguments): (Tensor | null)[] {
  const call = readGradCall("grad", kOptions, given);
  return interpreter?.gradients?.(call) ?? gradientHandles(call).map(takeTensor);
}

/** Like grad(), but computes on another thread or, without threads, in time slices; see Tensor.backwardAsync(). */
export function gradAsync(...given: UsedGradArguments<GradAsyncOptions>): Promise<Tensor[]>;
export function gradAsync(...given: GradArguments<GradAsyncOptions>): Promise<(Tensor | null)[]>;
export async function gradAsync(
  ...given: GradArguments<GradAsyncOptions>
): Promise<(Tensor | null)[]> {
  const { signal, ...call } = readGradCall("gradAsync", kAsyncGradOptions, given);
  return (await gradientHandlesAsync(call, signal)).map(takeTensor);
}

/** Adds the gradients of the sum of `tensors` to the `grad` of the leaves. */
export function backward(tensors: Targets, ...rest: BackwardArguments): void {
  backwardFrom(toList(tensors), ...readBackwardCall("backward", kBackwardAllOptions, rest));
}

/** Like backward(), but computes on another thread or, without threads, in time slices; see Tensor.backwardAsync(). */
export async function backwardAsync(
  tensors: Targets,
  ...rest: BackwardArguments<BackwardAllAsyncOptions>
): Promise<void> {
  const call = readBackwardCall("backwardAsync", kAsyncBackwardAllOptions, rest);
  await backwardAsyncFrom(toList(tensors), ...call);
}

function readBackwardCall(
  name: string,
  rules: Partial<typeof kAsyncBackwardAllOptions>,
  rest: readonly unknown[],
): [gradients: readonly GivenGradient[], options: BackwardAsyncValues] {
  const { gradTensors, gradVariables, ...options } = readAfter(
    name,
    "tensors",
    rules as typeof kAsyncBackwardAllOptions,
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

function readGradCall(
  name: string,
  rules: Partial<typeof kAsyncGradOptions>,
  [outputs, inputs, ...rest]: GradArguments<GradAsyncOptions>,
): GradCall & { readonly signal: AbortSignalLike | undefined } {
  const { gradOutputs, onlyInputs, signal, ...options } = readAfter(
    name,
    "inputs",
    rules as typeof kAsyncGradOptions,
    rest,
  );
  if (!onlyInputs) {
    warnOfOldArgument(
      `${name}(): "onlyInputs" is ignored. Use backward() to accumulate gradients in leaves.`,
    );
  }
  const gradients = gradientList(gradOutputs);
  return { outputs: toList(outputs), inputs: toList(inputs), gradients, options, signal };
}

function warnOfOldArgument(message: string): void {
  console.warn(`edgegrad: ${message}`);
}

function gradientList(given: GivenGradients): readonly GivenGradient[] {
  return given === null || given === undefined ? [] : toList(given);
}
