// The two ways to run the backward graph: backward() and grad().

import { checked, frameOf, native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import { kAllowUnused, kCreateGraph, kRetainGraph, kRetainGraphGiven } from "../runtime/native.js";
import { handleOf } from "../tensor/info.js";
import type { Tensor } from "../tensor/tensor.js";

/** Options of `Tensor.backward`. */
export interface BackwardOptions {
  /** Keep what backward needs, for another call; default: createGraph. */
  retainGraph?: boolean;
  /** Record the backward computation itself, for derivatives of derivatives. */
  createGraph?: boolean;
  /** Add gradients to these tensors only, instead of to all leaves. */
  inputs?: Tensor | readonly Tensor[];
}

/** A gradient given from outside; null stands for 1. */
export type GivenGradient = Tensor | null | undefined;

/** Runs backward from `tensors`. */
export function backwardFrom(
  tensors: readonly Tensor[],
  gradients: readonly GivenGradient[],
  options: BackwardOptions = {},
): void {
  const { inputs } = options;
  const targets = inputs === undefined ? null : toList(inputs);
  writeGraphArguments("backward", tensors, gradients, targets ?? []);
  checked(native.backward(tensors.length, targets?.length ?? -1, graphFlags(options)));
}

/** Returns the handles of the gradients of `outputs` with respect to `inputs`, 0 for unused ones. */
export function gradientHandles(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  gradients: readonly GivenGradient[],
  options: BackwardOptions & { allowUnused?: boolean },
): number[] {
  writeGraphArguments("grad", outputs, gradients, inputs);
  const flags = graphFlags(options) | (options.allowUnused === true ? kAllowUnused : 0);
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
  tensors: readonly Tensor[],
  gradients: readonly GivenGradient[],
  inputs: readonly Tensor[],
): void {
  if (gradients.length !== 0 && gradients.length !== tensors.length) {
    fail(
      "InvalidArgument",
      name,
      `got ${tensors.length} tensors and ${gradients.length} gradients.`,
    );
  }
  const roots = tensors.length;
  const frame = frameOf(2 * roots + inputs.length);
  tensors.forEach((tensor, i) => {
    frame[i] = checkedHandle(name, tensor);
    const gradient = gradients[i];
    frame[roots + i] = gradient ? checkedHandle(name, gradient) : 0;
  });
  inputs.forEach((input, i) => {
    frame[2 * roots + i] = checkedHandle(name, input);
  });
}

// By its handle, not by its class, which this file may not depend on.
function checkedHandle(name: string, tensor: Tensor): number {
  if (typeof tensor?.handle !== "number") {
    fail("InvalidArgument", name, `expected a tensor, got ${describe(tensor)}.`);
  }
  return handleOf(tensor);
}
