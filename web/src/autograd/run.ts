// The two ways to run the backward graph: backward() and grad().

import { checked, frameOf, native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import {
  kAllowUnused,
  kAllowUnusedGiven,
  kCreateGraph,
  kGradsBatched,
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
  const { inputs } = options;
  const targets = inputs === undefined ? null : toList(inputs);
  writeGraphArguments("backward", tensors, gradients, targets ?? []);
  checked(native.backward(tensors.length, targets?.length ?? -1, graphFlags(options)));
}

/** Options of gradientHandles(), besides those of backward. */
export interface GradientOptions extends BackwardOptions {
  allowUnused?: boolean;
  materializeGrads?: boolean;
  isGradsBatched?: boolean;
}

/** Returns the handles of the gradients of `outputs` with respect to `inputs`, 0 for unused ones. */
export function gradientHandles(
  outputs: readonly GradTarget[],
  inputs: readonly GradTarget[],
  gradients: readonly GivenGradient[],
  options: GradientOptions,
): number[] {
  writeGraphArguments("grad", outputs, gradients, inputs);
  let flags = graphFlags(options);
  if (options.allowUnused !== undefined) flags |= kAllowUnusedGiven;
  if (options.allowUnused === true) flags |= kAllowUnused;
  if (options.materializeGrads === true) flags |= kMaterializeGrads;
  if (options.isGradsBatched === true) flags |= kGradsBatched;
  const count = checked(native.autogradGrad(outputs.length, inputs.length, flags));
  return Array.from(frameOf(count).subarray(0, count));
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
