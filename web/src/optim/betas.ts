// Settings of Adam and similar optimizers that are pairs of numbers.

import { number, Rule } from "../arguments/rule.js";
import { checkRange } from "./optimizer.js";

/** Two numbers. */
export const kNumberPair = new Rule<readonly [number, number]>("a list of two numbers", (value) => {
  return Array.isArray(value) && value.length === 2 && value.every(number.accepts);
});

/** Throws InvalidArgument unless both factors are at least 0 and below 1. */
export function checkBetas(owner: string, name: string, betas: readonly [number, number]): void {
  checkRange(owner, `${name}[0]`, betas[0], 0, 1);
  checkRange(owner, `${name}[1]`, betas[1], 0, 1);
}
