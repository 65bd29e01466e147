// Which tensors in-place ops may change: all, unless a transform of the layers above (func/captured.ts) watches them.

import type { Tensor } from "./tensor.js";

/** Throws if the op may not change a tensor of the engine. */
export type WriteCheck = (op: string, target: Tensor) => void;

/** The check that runs before each change; null where all tensors may be changed. */
export let writeCheck: WriteCheck | null = null;

/** Runs `fn` with `check` before each change, after the checks that are in force. */
export function checkingWrites<T>(check: WriteCheck, fn: () => T): T {
  const outer = writeCheck;
  writeCheck = (op, target) => {
    outer?.(op, target);
    check(op, target);
  };
  try {
    return fn();
  } finally {
    writeCheck = outer;
  }
}
