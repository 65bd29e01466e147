// The running levels of vmap().

import { interpretedBy, interpreter, outermost } from "../dispatch/interpreter.js";
import { expand, unsqueeze } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Level, type LevelInterpreter, levelsOf, physicalOf } from "./batched.js";

/** Returns the innermost running level, or null. */
export function currentLevel(): Level | null {
  return (interpreter as LevelInterpreter | null)?.level ?? null;
}

/** Runs `fn` inside a level, or outside all levels if it is null. */
export function atLevel<T>(level: Level | null, fn: () => T): T {
  return interpretedBy(level === null ? outermost : level.interpreter, fn);
}

/** Returns a tensor repeated for every sample of a level, along a new first dimension. */
export function repeatedFor(tensor: Tensor, { size }: Level): Tensor {
  return expand(unsqueeze(tensor, 0), [size, ...tensor.shape]);
}

/** Returns the physical tensor with the batch dimensions of all `levels`, in their order. */
export function repeatedAt(tensor: Tensor, levels: readonly Level[]): Tensor {
  const own = levelsOf(tensor);
  const physical = physicalOf(tensor);
  return atLevel(null, () => {
    let full = physical;
    levels.forEach((level, i) => {
      if (!own.includes(level)) full = unsqueeze(full, i);
    });
    if (full === physical) return physical;
    const samples = full.shape.slice(levels.length);
    return expand(full, [...levels.map(({ size }) => size), ...samples]);
  });
}
