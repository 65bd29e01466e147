// The two ways to run the backward graph: backward() and grad().

import { checkedFor, frameOf, native, takeErrorFor } from "../runtime/bridge.js";
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
import type { Tensor } from "../tensor/tensor.js";
import { handleOfNode, type Node } from "./node.js";

/** Options of `Tensor.backward`. */
export interface BackwardOptions {
  /** Keep what backward needs, for another call; default: createGraph. */
  retainGraph?: boolean;
  /** Record the backward computation itself, for derivatives of derivatives. */
  createGraph?: boolean;
  /** Add gradients to these tensors only, instead of to all leaves. */
  inputs?: GradTarget | readonly GradTarget[];
}

/**
 * A place in the graph, from graph.getGradientEdge(): the value that a tensor had at that time,
 * whatever in-place operations have made of the tensor since.
 */
export interface GradientEdge {
  readonly node: Node;
  readonly outputNr: number;
}

/** What is differentiated, or by what: a tensor, or a place in the graph. */
export type GradTarget = Tensor | GradientEdge;

/** A gradient given from outside; null stands for 1. */
export type GivenGradient = Tensor | null | undefined;

/** Runs backward from `tensors`. */
export function backwardFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardOptions = {},
): void {
  runHere(readBackward("backward", tensors, gradients, options));
}

/** Like backwardFrom(), on another thread. */
export async function backwardAsyncFrom(
  tensors: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: BackwardOptions = {},
): Promise<void> {
  await runElsewhere(readBackward("backwardAsync", tensors, gradients, options));
}

/** Options of gradientHandles(), besides those of backward. */
export interface GradientOptions extends BackwardOptions {
  allowUnused?: boolean;
  materializeGrads?: boolean;
  isGradsBatched?: boolean;
}

/** What grad() is to differentiate. */
export interface GradCall {
  readonly outputs: readonly GradTarget[];
  readonly inputs: readonly GradTarget[];
  readonly gradients: readonly GivenGradient[];
  readonly options: GradientOptions;
}

/** Returns the handles of the gradients of `outputs` with respect to `inputs`, 0 for unused ones. */
export function gradientHandles(call: GradCall): number[] {
  return runHere(readGrad("grad", call));
}

/** Like gradientHandles(), on another thread. */
export async function gradientHandlesAsync(call: GradCall): Promise<number[]> {
  return runElsewhere(readGrad("gradAsync", call));
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
  options: BackwardOptions,
): GraphCall {
  const { inputs } = options;
  const targets = inputs === undefined ? null : toList(inputs);
  writeGraphArguments(name, tensors, gradients, targets ?? []);
  return { name, words: [tensors.length, targets?.length ?? -1, graphFlags(options)] };
}

function readGrad(name: string, { outputs, inputs, gradients, options }: GradCall): GraphCall {
  writeGraphArguments(name, outputs, gradients, inputs);
  let flags = graphFlags(options) | kCaptureGrads;
  if (options.allowUnused !== undefined) flags |= kAllowUnusedGiven;
  if (options.allowUnused === true) flags |= kAllowUnused;
  if (options.materializeGrads === true) flags |= kMaterializeGrads;
  if (options.isGradsBatched === true) flags |= kGradsBatched;
  return { name, words: [outputs.length, inputs.length, flags] };
}

function runHere({ name, words }: GraphCall): number[] {
  const count = checkedFor(name, native.runGraph(...words));
  return Array.from(frameOf(count).subarray(0, count));
}

function runElsewhere(call: GraphCall): Promise<number[]> {
  const { name, words } = call;
  // Without threads there is no elsewhere.
  if ((native.features() & kHasThreads) === 0) return Promise.resolve(runHere(call));
  return untilSettled((resolve, reject) => {
    const answer = holdFunction((handles) => {
      if (handles[0] === kFailed) reject(takeErrorFor(name));
      else resolve([...handles]);
      return [];
    });
    if (native.runGraphAsync(...words, answer) === kFailed) reject(takeErrorFor(name));
  });
}

/** Returns one tensor or a list of them as a list. */
export function toList<T>(oneOrMore: T | readonly T[]): readonly T[] {
  return Array.isArray(oneOrMore) ? oneOrMore : [oneOrMore as T];
}

function graphFlags({ retainGraph, createGraph }: BackwardOptions): number {
  let flags = createGraph === true ? kCreateGraph : 0;
  if (retainGraph !== undefined) flags |= kRetainGraphGiven;
  if (retainGraph === true) flags |= kRetainGraph;
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
    words.push(gradient ? handleOf(checkedTensor(name, gradient)) : 0);
  }
  for (const input of inputs) words.push(...targetWords(name, input));
  frameOf(words.length).set(words);
}

function targetWords(name: string, target: GradTarget): [number, number] {
  const edge = target as Partial<GradientEdge> | null;
  return edge?.node === undefined
    ? [handleOf(checkedTensor(name, target)), -1]
    : [handleOfNode(edge.node), edge.outputNr ?? 0];
}

// By its handle, not by its class, which this file may not depend on.
function checkedTensor(name: string, value: unknown): Tensor {
  if (typeof (value as Tensor | null)?.handle !== "number") {
    fail("InvalidArgument", name, `expected a tensor, got ${describe(value)}.`);
  }
  return value as Tensor;
}
