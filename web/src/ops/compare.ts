// Whole tensors compared: one truth value, where ops give one per element.

import { all, eq, isclose } from "../generated/ops.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";

/** Options of `allclose`. */
export interface Tolerance {
  rtol?: number;
  atol?: number;
  /** Take NaN for equal to NaN; default false. */
  equalNan?: boolean;
}

/** Returns whether all elements differ by at most atol + rtol * |other|. */
export function allclose(input: Tensor, other: Tensor, tolerance: Tolerance = {}): boolean {
  return scope(() => all(isclose(input, other, { ...tolerance })).item<boolean>() === true);
}

/** Returns whether two tensors have the same shape and elements. */
export function equal(input: Tensor, other: Tensor): boolean {
  tensorRule.check("equal", "input", input);
  const { shape } = tensorRule.check("equal", "other", other);
  const isSameShape =
    input.ndim === shape.length && input.shape.every((size, dim) => size === shape[dim]);
  return isSameShape && scope(() => all(eq(input, other)).item<boolean>() === true);
}
