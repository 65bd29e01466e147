// Who runs the calls of ops: the engine, unless a transform of the layers above (func/vmap.ts) has taken its place.

import type { Tensor } from "../tensor/tensor.js";
import type { Op } from "./signature.js";

/** What stands between the code of a function that is transformed and the engine. */
export interface Interpreter {
  /** Runs a call of an op: `values` in the order of the parameters; `flags` as C++ takes them for the in-place form, else null. */
  call(op: Op, values: readonly unknown[], flags: number | null): unknown;
  /** Runs a call of an autograd.Function. */
  apply(fn: unknown, args: readonly unknown[]): unknown;
  /** Returns a tensor that the engine knows, for a hook of `tensor`, and the hook as it is to be called with what is that one's. */
  hooked(
    tensor: Tensor,
    hook: (grad: Tensor) => unknown,
  ): { readonly owner: Tensor; readonly hook: (grad: Tensor | null) => unknown };
  /** Returns the tensor that the engine knows: all samples of `tensor`. */
  physical(tensor: Tensor): Tensor;
  /** Returns a tensor of unset values, into which random numbers are to be drawn. */
  emptyToDraw(shape: readonly number[], like: Tensor): Tensor;
}

/** Who runs calls at present; null for the engine. */
export let interpreter: Interpreter | null = null;

/** Runs `fn`, whose calls go to `next`, or to the engine when that is null. */
export function interpretedBy<T>(next: Interpreter | null, fn: () => T): T {
  const before = interpreter;
  interpreter = next;
  try {
    return fn();
  } finally {
    interpreter = before;
  }
}
