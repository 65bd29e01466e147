// Hooks: JavaScript functions in a list of C++'s.

import { checked, native } from "../runtime/bridge.js";
import { holdFunction, type WordFunction } from "../runtime/callbacks.js";
import { describe, fail } from "../runtime/errors.js";
import { handleOf } from "./info.js";
import { Tensor } from "./tensor.js";

/**
 * Sees a gradient; what it returns, if anything, takes the gradient's place. It gets null when the
 * tensor is one of several outputs of an operation and no gradient has reached it.
 */
export type GradHook = ((grad: Tensor) => Tensor) | ((grad: Tensor) => void);

/** What registering a hook returns. */
export interface HookHandle {
  /** Takes the hook away; a second call does nothing. */
  remove(): void;
}

/** Registers `hook` on the gradient of `tensor`. */
export function registerHook(tensor: Tensor, hook: GradHook): HookHandle {
  checkFunction("registerHook", hook);
  return addHook(native.registerHook, handleOf(tensor), ([grad = 0]) => {
    // Typed without null for the sake of the usual case.
    const result: unknown = hook(takeTensor(grad) as Tensor);
    return result === undefined || result === null ? [] : [replacement("registerHook", result)];
  });
}

/** Throws unless a hook is a function. */
export function checkFunction(where: string, fn: unknown): void {
  if (typeof fn === "function") return;
  fail("InvalidArgument", where, `expected a function, got ${describe(fn)}.`);
}

/** Gives a function to a native function that keeps it in a list; returns how to remove it. */
export function addHook(
  register: (owner: number, callback: number) => number,
  owner: number,
  fn: WordFunction,
): HookHandle {
  const callback = holdFunction(fn);
  checked(register(owner, callback));
  return { remove: () => native.removeHook(callback) };
}

/** Wraps a handle that C++ gave away, or 0. */
export function takeTensor(handle: number): Tensor | null {
  return handle === 0 ? null : new Tensor(handle);
}

/** Returns the handle of what a hook returned in place of a gradient. */
export function replacement(where: string, result: unknown): number {
  if (result instanceof Tensor) return handleOf(result);
  fail("InvalidGradient", where, `a hook returns a tensor or nothing, got ${describe(result)}.`);
}
