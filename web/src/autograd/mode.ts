// A mode applies to the synchronous execution of a function, or to the rest of a block with `using`.

import { functionOf } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { disposeSymbol } from "../tensor/tensor.js";

const kFunction = functionOf<() => unknown>();

/** Restores the previous mode when it is disposed; for `using` declarations. */
export interface ModeGuard {
  /** Ends the mode. */
  [Symbol.dispose](): void;
}

/** Returns the guard of a mode that has been entered; with `fn`, runs `fn`, ends the mode and returns the value of `fn`. */
export function inMode<T>(
  name: string,
  fn: (() => T) | undefined,
  restore: () => void,
): T | ModeGuard {
  return fn === undefined ? { [disposeSymbol]: once(restore) } : runInMode(name, fn, restore);
}

// A guard may be disposed explicitly and again at the end of its block.
function once(restore: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    restore();
  };
}

/** The arguments of a mode with options: a function or none, and the options. */
export type ModeArguments<T, O> = [fnOrOptions?: O | (() => T), options?: O];

/** Returns the function of such arguments of the mode `name`, or undefined, and what follows it. */
export function splitFunction<T, O>(
  name: string,
  given: ModeArguments<T, O>,
): [fn: (() => T) | undefined, rest: [options?: O]] {
  const [first, ...rest] = given;
  if (typeof first === "object" || first === undefined) return [undefined, given as [O?]];
  kFunction.check(name, "fn", first);
  return [first as () => T, rest as [O?]];
}

/** Runs `fn` in a mode that has been entered, ends the mode and returns the value of `fn`. */
export function runInMode<T>(name: string, fn: () => T, restore: () => void): T {
  let result: T;
  try {
    kFunction.check(name, "fn", fn);
    result = fn();
  } finally {
    restore();
  }
  if (isPromise(result)) {
    // The promise is ignored, but its rejection must not end the process.
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
