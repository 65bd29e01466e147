// Functions that are not ops but must handle the tensors inside vmap(): such a tensor stands for a batch.

import { interpretedBy, interpreter } from "../dispatch/interpreter.js";
import { all, empty, max } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";

/**
 * Returns an uninitialized tensor, with the dtype and device of `like`, to be filled with random numbers. Inside vmap() it has
 * separate elements for every sample, unless all samples draw the same numbers.
 */
export function emptyToDraw(shape: readonly number[], like: Tensor): Tensor {
  if (interpreter !== null) return interpreter.emptyToDraw(shape, like);
  return empty(shape, { dtype: like.dtype, device: like.device });
}

/**
 * Returns a new tensor, or inside vmap() a copy of it with separate elements for every sample if `like` has them, so that values
 * that differ by sample can be written into it.
 */
export function repeatedLike(made: Tensor, like: Tensor): Tensor {
  return interpreter?.repeatedLike?.(made, like) ?? made;
}

/** Returns whether a tensor is one inside vmap() that differs by sample. */
export function differsBySample(tensor: Tensor): boolean {
  return interpreter !== null && interpreter.physical(tensor) !== tensor;
}

/** Returns whether all elements of a condition are true; inside vmap(), those of all samples. */
export function isAllTrue(condition: Tensor): boolean {
  return ofAllSamples(condition, (known) => Boolean(all(known).item()));
}

/** Returns the largest of some numbers from 0 on; inside vmap(), of all samples. */
export function largestOf(numbers: Tensor): number {
  return ofAllSamples(numbers, (known) => (known.numel === 0 ? 0 : Number(max(known).item())));
}

function ofAllSamples<T>(tensor: Tensor, read: (known: Tensor) => T): T {
  const known = interpreter === null ? tensor : interpreter.physical(tensor);
  return interpretedBy(null, () => read(known));
}
