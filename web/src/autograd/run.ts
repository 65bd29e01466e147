// The two ways to run the backward graph: backward() and grad().

import { type Arguments, isPlainObject, readAfter } from "../arguments/read.js";
import { boolean, type Options, Rule, size, type Values } from "../arguments/rule.js";
import { startedWorkers } from "../engine/lifecycle.js";
import { checkedFor, frameOf, native, takeErrorFor, takeWords } from "../runtime/bridge.js";
import { holdFunction } from "../runtime/callbacks.js";
import { describe, fail } from "../runtime/errors.js";
import { untilSettled } from "../runtime/keep_alive.js";
import {
  kAllowUnused,
  kAllowUnusedGiven,
  kCaptureGrads,
  kCreateGraph,
  kFailed,
  kGradsBatched,
  kHasThreads,
  kMaterializeGrads,
  kRetainGraph,
  kRetainGraphGiven,
} from "../runtime/native.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";
import { handleOfNode, Node } from "./node.js";
import { servePieces } from "./pieces.js";

function isTarget(value: unknown): value is GradTarget {
  return value instanceof Tensor || (value as Partial<GradientEdge> | null)?.node instanceof Node;
}

function targetsOf(value: unknown): boolean {
  return Array.isArray(value) ? value.every(isTarget) : isTarget(value);
}

/** What backward() and grad() both take. */
export const kGraphOptions = {
  /** Keep what backward needs, for another call; default: createGraph. */
  retainGraph: boolean.orNull(),
  /** Record the backward computation itself, for derivatives of derivatives. */
  createGraph: boolean.or(false),
};

/** The declaration of the options of `Tensor.backward`. */
export const kBackwardOptions = {
  ...kGraphOptions,
  /** Add gradients to these tensors only, instead of to all leaves. */
  inputs: new Rule<GradTarget | readonly GradTarget[]>("tensors", targetsOf).orNull(),
};

/** Options of `Tensor.backward`. */
export type BackwardOptions = Options<typeof kBackwardOptions>;

/** Options of `Tensor.backward` with nothing left out. */
export type BackwardValues = Values<typeof kBackwardOptions>;

/**
 * A place in the graph, from graph.getGradientEdge(): the value that a tensor had at that time,
 * whatever in-place operations have made of the tensor since.
 */
export interface GradientEdge {
  /** The node whose output it is. */
  readonly node: Node;
  /** Which output. */
  readonly outputNr: number;
}

/** What is differentiated, or by what: a tensor, or a place in the graph. */
export type GradTarget = Tensor | GradientEdge;

/** A gradient given from outside; null stands for 1. */
export type GivenGradient = Tensor | null | undefined;

/** The arguments of `Tensor.backward`. */
export type BackwardArguments =
  | [gradient?: GivenGradient, options?: BackwardOptions]
  | [
      gradient: GivenGradient,
      ...rest: Arguments<
        [
          retainGraph: boolean | null,
          createGraph: boolean,
          inputs: GradTarget | readonly GradTarget[],
        ],
        BackwardOptions
      >,
    ];

/** Runs backward from one tensor. */
export function backwardOf(tensor: Tensor, given: BackwardArguments): void {
  runHere(readBackward("backward", [tensor], ...readCall("backward", given)));
}

/** Like backwardOf(), on another thread. */
export async function backwardAsyncOf(tensor: Tensor, given: BackwardArguments): Promise<void> {
  await runLater(readBackward("backwardAsync", [tensor], ...readCall("backwardAsync", given)));
}

function readCall(
  name: string,
  [gradient = null, ...rest]: BackwardArguments,
): [gradients: GivenGradient[], options: BackwardValues] {
  if (isPlainObject(gradient)) {
    const told = `the first argument is a gradient; options come second: ${name}(null, { ... }).`;
    fail("InvalidArgument", name, told);
  }
  return [[gradient], readAfter(name, "gradient", kBackwardOptions, rest)];
}

/** Runs backward from `tensors`. */
export function backwardFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardValues,
): void {
  runHere(readBackward("backward", tensors, gradients, options));
}

/** Like backwardFrom(), on another thread or, without threads, in pieces. */
export async function backwardAsyncFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardValues,
): Promise<void> {
  await runLater(readBackward("backwardAsync", tensors, gradients, options));
}

/** The declaration of what grad() takes besides outputs and inputs, without their gradients. */
export const kGradOptions = {
  ...kGraphOptions,
  /** Gradients are of the inputs alone, whatever this says; false gets a warning. */
  onlyInputs: boolean.or(true),
  /** Return null for an input the outputs do not depend on, instead of failing. */
  allowUnused: boolean.optional(),
  /** The first dimension of every gradient of an output counts a batch; so it does of the results. */
  isGradsBatched: boolean.or(false),
  /** Return zeros instead of null for such an input. */
  materializeGrads: boolean.or(false),
};

type GradientValues = Omit<Values<typeof kGradOptions>, "onlyInputs">;

/** What grad() is to differentiate. */
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

/** Like gradientHandles(), on another thread or, without threads, in pieces. */
export async function gradientHandlesAsync(call: GradCall): Promise<number[]> {
  return runLater(readGrad("gradAsync", call));
}

/** Who calls native.runGraph(), and with which arguments; what else it needs is in the frame. */
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

function runLater({ name, words }: GraphCall): Promise<number[]> {
  const failure = startedWorkers()?.failure ?? null;
  if (failure !== null) return Promise.reject(failure);
  return untilSettled(name, (resolve, reject) => {
    const answer = holdFunction((handles) => {
      if (handles[0] === kFailed) reject(takeErrorFor(name));
      else resolve([...handles]);
      return [];
    });
    if (native.runGraphAsync(...words, answer) === kFailed) reject(takeErrorFor(name));
    else if ((native.features() & kHasThreads) === 0) servePieces();
  });
}

/** Returns one tensor or a list of them as a list. */
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
      `got ${tensors.length} tensors and ${gradients.length} gradients.`,
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
