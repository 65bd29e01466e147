// Modes hold for the synchronous run of a function, or of a block with `using`.

import { functionOf } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import { isPromise } from "../tensor/scope.js";
import { disposeSymbol } from "../tensor/tensor.js";

const kFunction = functionOf<() => unknown>();

/** Restores the mode that was in force before; for `using`. */
export interface ModeGuard {
  /** Ends the mode, for `using`. */
  [Symbol.dispose](): void;
}

/** Returns the guard of a mode that has begun; with `fn`, runs that, ends the mode and returns its value. */
export function inMode<T>(
  name: string,
  fn: (() => T) | undefined,
  restore: () => void,
): T | ModeGuard {
  return fn === undefined ? { [disposeSymbol]: restore } : runInMode(name, fn, restore);
}

/** Runs `fn` in a mode that has begun, ends the mode and returns the value of `fn`. */
export function runInMode<T>(name: string, fn: () => T, restore: () => void): T {
  let result: T;
  try {
    kFunction.check(name, "fn", fn);
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
