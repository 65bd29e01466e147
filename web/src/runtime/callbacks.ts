// JavaScript functions that C++ calls: it knows them by number.

import { guardCallback, native } from "./bridge.js";

/** A hook on a gradient: takes an owned handle and returns one to use instead, or 0. */
export type HandleHook = (grad: number) => number;

const hooks = new Map<number, HandleHook>();
let lastId = 0;

/** Makes a function known to C++ and returns its number. */
export function addCallback(hook: HandleHook): number {
  hooks.set(++lastId, hook);
  return lastId;
}

/** Forgets a function. */
export function dropCallback(id: number): void {
  hooks.delete(id);
}

/** Runs a hook for C++. */
export function runHook(id: number, grad: number): number {
  const hook = hooks.get(id);
  if (hook !== undefined) return guardCallback(() => hook(grad));
  // C++ does not know that the hook was removed; the gradient stays as it is.
  native.release(grad);
  return 0;
}
