// Arguments that may be iterators.

import { Tensor } from "../../tensor/tensor.js";

/** Returns an iterable of tensors as a list, because an iterator can be consumed only once, and anything else as it is. */
export function listOf(parameters: unknown): unknown {
  const isIterable =
    typeof parameters === "object" && parameters !== null && Symbol.iterator in parameters;
  if (!isIterable || parameters instanceof Tensor) return parameters;
  return [...(parameters as Iterable<unknown>)];
}
