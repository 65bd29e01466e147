// view(): the same memory in another shape, or as another dtype.

import type { Ints } from "../dispatch/types.js";
import { viewDtype } from "../generated/internal.js";
import { view as viewShape } from "../generated/ops.js";
import { type DType, dtypeRule } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** view() as a method. */
export interface ViewMethod {
  (shape: Ints): Tensor;
  (...shape: number[]): Tensor;
  (dtype: DType): Tensor;
}

/**
 * Returns the same memory in another shape, or read as another dtype. With a dtype the result has no graph, and the last dimension
 * becomes longer or shorter when elements of the dtype take fewer or more bytes; bool has no such view.
 */
export function view(input: Tensor, shape: Ints): Tensor;
export function view(input: Tensor, ...shape: number[]): Tensor;
export function view(input: Tensor, dtype: DType): Tensor;
export function view(input: Tensor, ...given: unknown[]): Tensor {
  const [first] = given;
  if (typeof first !== "string") return viewShape(input, ...(given as number[]));
  return viewDtype(input, dtypeRule.check("view", "dtype", first));
}
