// What runs the calls of ops: the engine, unless a transform of the layers above (func/vmap.ts, func/intercept_ops.ts) intercepts
// them.

import type { Tensor } from "../tensor/tensor.js";
import type { Op } from "./signature.js";

/** Intercepts the calls that a transformed function makes, before they reach the engine. */
export interface Interpreter {
  /** Runs a call of an op: `values` are in the order of the parameters; `flags` are those of the in-place form, otherwise null. */
  call(op: Op, values: readonly unknown[], flags: number | null): unknown;
  /** Runs a call of an autograd.Function. */
  apply(fn: unknown, args: readonly unknown[]): unknown;
  /** For a hook on `tensor`: returns the engine's tensor to register it on, and the hook wrapped to take that tensor's gradient. */
  hooked(
    tensor: Tensor,
    hook: (grad: Tensor) => unknown,
  ): { readonly owner: Tensor; readonly hook: (grad: Tensor | null) => unknown };
  /** Returns the engine's tensor, which holds all samples of `tensor`. */
  physical(tensor: Tensor): Tensor;
  /** Returns an uninitialized tensor, to be filled with random numbers. */
  emptyToDraw(shape: readonly number[], like: Tensor): Tensor;
  /** Returns a new tensor, or a copy with separate elements for every sample of `like`. */
  repeatedLike?(made: Tensor, like: Tensor): Tensor;
  /** Runs a call of a composite, which `compute` computes by calls of ops; without this method nothing intercepts it. */
  composite?(op: Op, values: readonly unknown[], compute: () => unknown): unknown;
  /** Returns a batch of dual tensors; without this method, the engine makes one. */
  makeDual?(primal: Tensor, tangent: Tensor): Tensor;
  /** Returns the values and the tangents of a batch. */
  unpackDual?(tensor: Tensor): { readonly primal: Tensor; readonly tangent: Tensor | null };
  /** Computes the gradients for a call of autograd.grad(), a GradCall of autograd/run.ts; without this method, the engine does. */
  gradients?(call: object): (Tensor | null)[];
  /** Learns that `alias` has the values of `tensor` without a call of an op. */
  aliased?(tensor: Tensor, alias: Tensor): void;
}

/** The interpreter that runs calls at present; null for the engine. */
export let interpreter: Interpreter | null = null;

/** What runs the calls outside all levels of vmap(): an interpreter that is not a level, or null for the engine. */
export let outermost: Interpreter | null = null;

/** Runs `fn` with its calls, and those that levels of vmap() in it make, going to `next`. */
export function outermostBy<T>(next: Interpreter | null, fn: () => T): T {
  const before = outermost;
  outermost = next;
  try {
    return interpretedBy(next, fn);
  } finally {
    outermost = before;
  }
}

/** Tells the interpreter, if one runs, that `alias` has the values of `tensor`; returns `alias`. */
export function aliasOf(tensor: Tensor, alias: Tensor): Tensor {
  interpreter?.aliased?.(tensor, alias);
  return alias;
}

/** Runs `fn` with its calls going to `next`, or to the engine when `next` is null. */
export function interpretedBy<T>(next: Interpreter | null, fn: () => T): T {
  const before = interpreter;
  interpreter = next;
  try {
    return fn();
  } finally {
    interpreter = before;
  }
}
