// The two ways to run the backward graph: backward() and grad().

import { type Arguments, isPlainObject, readAfter } from "../arguments/read.js";
import { boolean, type Options, Rule, size, type Values } from "../arguments/rule.js";
import { signalRule } from "../arguments/signal.js";
import { startedWorkers } from "../engine/lifecycle.js";
import {
  kAllowUnused,
  kAllowUnusedGiven,
  kCaptureGrads,
  kCreateGraph,
  kGradsBatched,
  kHasThreads,
  kMaterializeGrads,
  kRetainGraph,
  kRetainGraphGiven,
} from "../generated/border.js";
import { checkedFor, frameOf, native, takeErrorFor, takeWords } from "../runtime/bridge/bridge.js";
import { holdFunction, setContext } from "../runtime/bridge/callbacks.js";
import { kFailed } from "../runtime/bridge/native.js";
import { describe, fail } from "../runtime/errors/errors.js";
import type { AbortSignalLike } from "../runtime/host/abort.js";
import { untilSettled } from "../runtime/threads/keep_alive.js";
import { handleOf } from "../tensor/info.js";
import { captureContext } from "../tensor/scope_stack.js";
import { Tensor } from "../tensor/tensor.js";
import { servePieces } from "./event_loop.js";
import { handleOfNode, Node } from "./node.js";

function isTarget(value: unknown): value is GradTarget {
  return value instanceof Tensor || (value as Partial<GradientEdge> | null)?.node instanceof Node;
}

function targetsOf(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isTarget) : isTarget(value);
}

/** The options of both backward() and grad(). */
export const kGraphOptions = {
  /** Whether to keep the graph's saved tensors for another backward call; default: createGraph. */
  retainGraph: boolean.orNull(),
  /** Whether to record the backward computation itself, for higher derivatives; default false. */
  createGraph: boolean.or(false),
};

/** The declaration of the options of `Tensor.backward`. */
export const kBackwardOptions = {
  ...kGraphOptions,
  /** The tensors whose gradients are accumulated; default: all leaves. */
  inputs: new Rule<GradTarget | readonly GradTarget[]>("tensors", targetsOf).orNull(),
};

/** Options of `Tensor.backward`. */
export type BackwardOptions = Options<typeof kBackwardOptions>;

/** Options of `Tensor.backward` with defaults filled in. */
export type BackwardValues = Values<typeof kBackwardOptions>;

/** The further options of the asynchronous forms. */
export const kAsyncOptions = {
  /**
   * Ends the call: the promise rejects with the signal's reason. The node that is running runs to its end, and leaves that were reached
   * before have their gradients.
   */
  signal: signalRule,
};

const kBackwardAsyncOptions = { ...kBackwardOptions, ...kAsyncOptions };

/** Options of `Tensor.backwardAsync`. */
export type BackwardAsyncOptions = Options<typeof kBackwardOptions & typeof kAsyncOptions>;

/** Those with defaults filled in. */
export type BackwardAsyncValues = Values<typeof kBackwardAsyncOptions>;

/**
 * An edge of the graph, from graph.getGradientEdge(). It refers to the value that a tensor had at that time,
 * even if in-place operations have changed the tensor since.
 */
export interface GradientEdge {
  /** The node that produced the value. */
  readonly node: Node;
  /** The index of the value among the node's outputs. */
  readonly outputNr: number;
}

/** A tensor or an edge of the graph: something to differentiate, or to differentiate with respect to. */
export type GradTarget = Tensor | GradientEdge;

/** A gradient passed by the caller; null means 1. */
export type GivenGradient = Tensor | null | undefined;

/** The arguments of `Tensor.backward`, or of `Tensor.backwardAsync` with its options. */
export type BackwardArguments<Named = BackwardOptions> =
  | [gradient?: GivenGradient, options?: Named]
  | [
      gradient: GivenGradient,
      ...rest: Arguments<
        [
          retainGraph: boolean | null,
          createGraph: boolean,
          inputs: GradTarget | readonly GradTarget[],
        ],
        Named
      >,
    ];

/** Runs backward from one tensor. */
export function backwardOf(tensor: Tensor, given: BackwardArguments): void {
  runHere(readBackward("backward", [tensor], ...readCall("backward", kBackwardOptions, given)));
}

/** Like backwardOf(), but on another thread or, without threads, in time slices. */
export async function backwardAsyncOf(
  tensor: Tensor,
  given: BackwardArguments<BackwardAsyncOptions>,
): Promise<void> {
  await backwardAsyncFrom([tensor], ...readCall(kBackwardAsync, kBackwardAsyncOptions, given));
}

function readCall(
  name: string,
  rules: Partial<typeof kBackwardAsyncOptions>,
  [gradient = null, ...rest]: BackwardArguments<BackwardAsyncOptions>,
): [gradients: GivenGradient[], options: BackwardAsyncValues] {
  if (isPlainObject(gradient)) {
    const message = `the first argument is the gradient; options come second: ${name}(null, { ... }).`;
    fail("InvalidArgument", name, message);
  }
  return [[gradient], readAfter(name, "gradient", rules as typeof kBackwardAsyncOptions, rest)];
}

/** Runs backward from `tensors`. */
export function backwardFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardValues,
): void {
  runHere(readBackward("backward", tensors, gradients, options));
}

const kBackwardAsync = "backwardAsync";

/** Like backwardFrom(), but on another thread or, without threads, in time slices. */
export async function backwardAsyncFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  { signal, ...options }: BackwardAsyncValues,
): Promise<void> {
  const read = () => readBackward(kBackwardAsync, tensors, gradients, options);
  await runLater(kBackwardAsync, read, signal);
}

/** The declaration of the options of grad(), except for the gradients of the outputs. */
export const kGradOptions = {
  ...kGraphOptions,
  /** Ignored: gradients are always computed for the inputs only. Passing false logs a warning. */
  onlyInputs: boolean.or(true),
  /** Whether to return null for an input that the outputs do not depend on, instead of throwing. */
  allowUnused: boolean.optional(),
  /** Whether the first dimension of the output gradients, and of the results, is a batch dimension; default false. */
  isGradsBatched: boolean.or(false),
  /** Whether to return zeros instead of null for inputs that the outputs do not depend on; default false. */
  materializeGrads: boolean.or(false),
};

type GradientValues = Omit<Values<typeof kGradOptions>, "onlyInputs">;

/** The arguments of a call of grad(). */
export interface GradCall {
  readonly outputs: readonly GradTarget[];
  readonly inputs: readonly GradTarget[];
  readonly gradients: readonly GivenGradient[];
  readonly options: GradientValues;
}

/** Returns the handles of the gradients of `outputs` with respect to `inputs`, 0 for unused ones. */
export function gradientHandles(call: GradCall): number[] {
  return runHere(readGrad("grad", call));
}

/** Like gradientHandles(), but on another thread or, without threads, in time slices. */
export async function gradientHandlesAsync(
  call: GradCall,
  signal: AbortSignalLike | undefined,
): Promise<number[]> {
  return runLater("gradAsync", () => readGrad("gradAsync", call), signal);
}

/** The name of the calling function and the arguments for native.runGraph(); the other arguments are in the call frame. */
interface GraphCall {
  readonly name: string;
  readonly words: readonly [count: number, inputCount: number, flags: number];
}

function readBackward(
  name: string,
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardValues,
): GraphCall {
  const { inputs } = options;
  const targets = inputs === null ? null : toList(inputs);
  writeGraphArguments(name, tensors, gradients, targets ?? []);
  return { name, words: [tensors.length, targets?.length ?? -1, graphFlags(options)] };
}

function readGrad(name: string, { outputs, inputs, gradients, options }: GradCall): GraphCall {
  writeGraphArguments(name, outputs, gradients, inputs);
  let flags = graphFlags(options) | kCaptureGrads;
  if (options.allowUnused !== undefined) flags |= kAllowUnusedGiven;
  if (options.allowUnused) flags |= kAllowUnused;
  if (options.materializeGrads) flags |= kMaterializeGrads;
  if (options.isGradsBatched) flags |= kGradsBatched;
  return { name, words: [outputs.length, inputs.length, flags] };
}

function runHere({ name, words }: GraphCall): number[] {
  const count = checkedFor(name, native.runGraph(...words));
  return takeWords(count);
}

// `read` is called last, because the code of a signal that is no AbortSignal may use the call frame.
function runLater(
  name: string,
  read: () => GraphCall,
  signal: AbortSignalLike | undefined,
): Promise<number[]> {
  const failure = startedWorkers()?.failure ?? null;
  if (failure !== null) return Promise.reject(failure);
  let answer = 0;
  const end = () => setContext(answer, undefined);
  const start = (resolve: (handles: number[]) => void, reject: (error: unknown) => void) => {
    const { words } = read();
    answer = holdFunction((handles) => {
      end();
      if (handles[0] === kFailed) reject(takeErrorFor(name));
      else resolve([...handles]);
      return [];
    });
    setContext(answer, captureContext());
    if (native.runGraphAsync(...words, answer) === kFailed) {
      end();
      reject(takeErrorFor(name));
    } else if ((native.features() & kHasThreads) === 0) {
      servePieces();
    }
  };
  const stop = () => {
    native.cancelGraph(answer);
  };
  const discard = (handles: number[]) => {
    for (const handle of handles) native.release(handle);
  };
  return untilSettled(name, start, { signal, stop, discard });
}

/** Returns an array unchanged and a single value as an array of one. */
export function toList<T>(oneOrMore: T | readonly T[]): readonly T[] {
  return Array.isArray(oneOrMore) ? oneOrMore : [oneOrMore as T];
}

function graphFlags({ retainGraph, createGraph }: Values<typeof kGraphOptions>): number {
  let flags = createGraph ? kCreateGraph : 0;
  if (retainGraph !== null) flags |= kRetainGraphGiven;
  if (retainGraph) flags |= kRetainGraph;
  return flags;
}

function writeGraphArguments(
  name: string,
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  inputs: readonly GradTarget[],
): void {
  if (gradients.length !== 0 && gradients.length !== tensors.length) {
    fail(
      "InvalidArgument",
      name,
      `expected a gradient per tensor, got ${tensors.length} tensors and ${gradients.length} gradients.`,
    );
  }
  const words = tensors.flatMap((target) => targetWords(name, target));
  for (let i = 0; i < tensors.length; i++) {
    const gradient = gradients[i];
    const isGiven = gradient !== null && gradient !== undefined;
    words.push(isGiven ? handleOf(checkedTensor(name, gradient)) : 0);
  }
  for (const input of inputs) words.push(...targetWords(name, input));
  frameOf(words.length).set(words);
}

function targetWords(name: string, target: GradTarget): [number, number] {
  const { node, outputNr = 0 } = (target ?? {}) as Partial<GradientEdge>;
  return node instanceof Node
    ? [handleOfNode(node), size.check(name, "outputNr", outputNr)]
    : [handleOf(checkedTensor(name, target)), -1];
}

function checkedTensor(name: string, value: unknown): Tensor {
  if (value instanceof Tensor) return value;
  fail("InvalidArgument", name, `expected a tensor, got ${describe(value)}.`);
}
