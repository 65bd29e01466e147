// Whether operations are recorded. A mode holds for the synchronous run of a function, or of a block
// with `using`.

import { native } from "../runtime/bridge.js";
import { fail } from "../runtime/errors.js";
import { isPromise } from "../tensor/scope.js";
import { disposeSymbol } from "../tensor/tensor.js";

/** Restores the mode that was in force before; for `using`. */
export interface ModeGuard {
  [Symbol.dispose](): void;
}

/** Returns true when operations on tensors that require a gradient are recorded. */
export function isGradEnabled(): boolean {
  return native.isGradEnabled();
}

/** Runs `fn` without recording and returns its value; without `fn`, until the end of the block. */
export function noGrad(): ModeGuard;
export function noGrad<T>(fn: () => T): T;
export function noGrad<T>(fn?: () => T): T | ModeGuard {
  return withMode("noGrad", false, fn);
}

/** Runs `fn` with recording and returns its value; without `fn`, until the end of the block. */
export function enableGrad(): ModeGuard;
export function enableGrad<T>(fn: () => T): T;
export function enableGrad<T>(fn?: () => T): T | ModeGuard {
  return withMode("enableGrad", true, fn);
}

/** Like enableGrad() or noGrad(), as `enabled` says. */
export function setGradEnabled(enabled: boolean): ModeGuard;
export function setGradEnabled<T>(enabled: boolean, fn: () => T): T;
export function setGradEnabled<T>(enabled: boolean, fn?: () => T): T | ModeGuard {
  return withMode("setGradEnabled", enabled, fn);
}

function withMode<T>(name: string, enabled: boolean, fn?: () => T): T | ModeGuard {
  const previous = native.isGradEnabled();
  native.setGradEnabled(enabled);
  const restore = () => native.setGradEnabled(previous);
  if (fn === undefined) return { [disposeSymbol]: restore };
  let result: T;
  try {
    result = fn();
  } finally {
    restore();
  }
  if (isPromise(result)) {
    // What happens to the promise now is of no interest; its failure must not end the process.
    result.then(undefined, () => undefined);
    fail(
      "InvalidArgument",
      name,
      "the function returned a promise, but a mode ends when the function returns. " +
        `Use ${name}() inside the async function, around its synchronous parts.`,
    );
  }
  return result;
}
