// Settings that are pairs, as Adam and its relatives have one.

import { number, Rule } from "../arguments/rule.js";
import { checkRange } from "./optimizer.js";

/** Two numbers. */
export const kNumberPair = new Rule<readonly [number, number]>("a list of two numbers", (value) => {
  return Array.isArray(value) && value.length === 2 && value.every(number.accepts);
});

/** Throws InvalidArgument unless both factors are from 0 to below 1. */
export function checkBetas(owner: string, betas: readonly [number, number]): void {
  checkRange(owner, "beta parameter at index 0", betas[0], 0, 1);
  checkRange(owner, "beta parameter at index 1", betas[1], 0, 1);
}
