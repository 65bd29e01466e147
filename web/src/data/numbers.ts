// The numbers that samplers and subsets take: an array or a one-dimensional tensor.

import { either, listOf, type Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";

/** An array of numbers, or a one-dimensional tensor. */
export type Numbers = readonly number[] | Tensor;

/** The rule for numbers that each satisfy `rule`, in an array or a tensor; numbersOf() checks the elements of a tensor. */
export function numbersRule(rule: Rule<number>): Rule<Numbers> {
  return either(listOf(rule), tensorRule);
}

/** Returns the numbers as an array; throws InvalidArgument for one that `rule` does not accept. */
export function numbersOf(
  where: string,
  name: string,
  rule: Rule<number>,
  given: Numbers,
): readonly number[] {
  if (!(given instanceof Tensor)) return given;
  if (given.ndim !== 1) {
    const message = `${name}: expected a one-dimensional tensor, got the shape [${given.shape}].`;
    fail("ShapeMismatch", where, message);
  }
  const numbers = Array.from(given.dataSync() as ArrayLike<number | bigint>, Number);
  return listOf(rule).check(where, name, numbers);
}
