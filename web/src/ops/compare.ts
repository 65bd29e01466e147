// Comparisons of whole tensors, with a single boolean as the result; the ops compare element by element.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean, number, type Options } from "../arguments/rule.js";
import { all, eq, isclose } from "../generated/ops.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { hasShape } from "../tensor/shape.js";
import type { Tensor } from "../tensor/tensor.js";

const kTolerance = {
  /** The allowed difference relative to the second operand; default 1e-5. */
  rtol: number.or(1e-5),
  /** The allowed absolute difference; default 1e-8. */
  atol: number.or(1e-8),
  /** Whether NaN equals NaN; default false. */
  equalNan: boolean.or(false),
};

/** Options of `allclose`. */
export type Tolerance = Options<typeof kTolerance>;

/** Tolerances by position or as options. */
export type ToleranceArguments = Arguments<
  [rtol: number, atol: number, equalNan: boolean],
  Tolerance
>;

/** Returns whether all elements differ by at most atol + rtol * |other|. */
export function allclose(input: Tensor, other: Tensor, ...rest: ToleranceArguments): boolean {
  const tolerance = readArguments("allclose", kTolerance, rest);
  return scope(() => all(isclose(input, other, tolerance)).item<boolean>() === true);
}

/** Returns whether two tensors have the same shape and elements. */
export function equal(input: Tensor, other: Tensor): boolean {
  tensorRule.check("equal", "input", input);
  const { shape } = tensorRule.check("equal", "other", other);
  return (
    hasShape(input.shape, shape) && scope(() => all(eq(input, other)).item<boolean>() === true)
  );
}
