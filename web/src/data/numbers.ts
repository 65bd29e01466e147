// Numbers that samplers and subsets are made of: a list, or a vector.

import { either, listOf, type Rule } from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";

/** A list of numbers, or a tensor of one dimension. */
export type Numbers = readonly number[] | Tensor;

/** What keeps a rule number by number, in a list or a tensor; `numbersOf` looks at a tensor. */
export function numbersRule(rule: Rule<number>): Rule<Numbers> {
  return either(listOf(rule), tensorRule);
}

/** Returns the numbers as a list, each of which keeps the rule. */
export function numbersOf(
  where: string,
  name: string,
  rule: Rule<number>,
  given: Numbers,
): readonly number[] {
  if (!(given instanceof Tensor)) return given;
  if (given.ndim !== 1) {
    const told = `${name} should be a 1d sequence but given ${name} have shape [${given.shape}].`;
    fail("ShapeMismatch", where, told);
  }
  const numbers = Array.from(given.dataSync() as ArrayLike<number | bigint>, Number);
  return listOf(rule).check(where, name, numbers);
}
