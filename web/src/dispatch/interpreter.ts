// Who runs the calls of ops: the engine, unless a transform of the layers above (func/vmap.ts) has taken its place.

import type { Op } from "./signature.js";

/** Runs one call: `values` in the order of the parameters; `flags` as C++ takes them for the in-place form, else null. */
export type Interpreter = (op: Op, values: readonly unknown[], flags: number | null) => unknown;

/** Who runs calls at present; null for the engine. */
export let interpreter: Interpreter | null = null;

/** Hands the calls that follow to `next`, or to the engine when it is null. */
export function setInterpreter(next: Interpreter | null): void {
  interpreter = next;
}
