// where(), including the form that takes only a condition, and nonzero().

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import type { Operand } from "../dispatch/types.js";
import { where as choose, nonzero as positionRows, reshape, unbind } from "../generated/ops.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

const kNonzeroOptions = {
  /** Whether to return one tensor of indices per axis, for indexing, instead of a row per element; default false. */
  asTuple: boolean.or(false),
};

const kNonzeroArguments = { input: tensorRule, ...kNonzeroOptions };

/** Options of `nonzero`. */
export type NonzeroOptions = Options<typeof kNonzeroOptions>;

/** The options of a call that returns one tensor. */
type AsRows = Arguments<[asTuple: false], { asTuple?: false }>;

/** The options of a call that returns a tensor per axis. */
type AsTuple = [asTuple: true] | [options: { asTuple: true }];

/** nonzero() as a method. */
export interface NonzeroMethod {
  (...rest: AsRows): Tensor;
  (...rest: AsTuple): Tensor[];
  (...rest: Arguments<[asTuple: boolean], NonzeroOptions>): Tensor | Tensor[];
}

/** The indices of the nonzero elements, one row for each element; with `asTuple` one tensor for each axis. */
export function nonzero(input: Tensor, ...rest: AsRows): Tensor;
export function nonzero(input: Tensor, ...rest: AsTuple): Tensor[];
export function nonzero(
  input: Tensor,
  ...rest: Arguments<[asTuple: boolean], NonzeroOptions>
): Tensor | Tensor[];
export function nonzero(...given: readonly unknown[]): Tensor | Tensor[] {
  const { input, asTuple } = readArguments("nonzero", kNonzeroArguments, given);
  return asTuple ? positionsOf(input) : positionRows(input);
}

/**
 * Returns `input` where `condition` is true and `other` elsewhere. With only a condition, returns the positions where it is
 * true, one tensor of indices per axis.
 */
export function where(condition: Operand, input: Operand, other: Operand): Tensor;
export function where(condition: Tensor): Tensor[];
export function where(...given: readonly unknown[]): Tensor | Tensor[] {
  const [condition] = given;
  if (given.length === 1 && condition instanceof Tensor) return positionsOf(condition);
  return choose(...(given as Parameters<typeof choose>));
}

function positionsOf(condition: Tensor): Tensor[] {
  return scope(() => {
    // A tensor without dimensions is treated as one with a single element.
    const list = condition.ndim === 0 ? reshape(condition, 1) : condition;
    return unbind(positionRows(list), 1);
  });
}
