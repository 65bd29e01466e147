// What Adam and similar optimizers share: the decay rates of two averages, and the checks of their settings.

import { number, Rule } from "../arguments/rule.js";
import { checkRange } from "./check_range.js";

/** Two numbers. */
export const kNumberPair = new Rule<readonly [number, number]>("a list of two numbers", (value) => {
  return Array.isArray(value) && value.length === 2 && value.every(number.accepts);
});

/** The checks of the settings, in the order in which they are called. */
export const kAdamChecks = {
  lr: checkRange,
  eps: checkRange,
  betas: checkBetas,
  weightDecay: checkRange,
};

/** The settings by position. */
export type AdamPositions = [
  lr: number,
  betas: readonly [number, number],
  eps: number,
  weightDecay: number,
];

/** Throws InvalidArgument unless both factors are at least 0 and below 1. */
export function checkBetas(owner: string, name: string, betas: readonly [number, number]): void {
  checkRange(owner, `${name}[0]`, betas[0], 0, 1);
  checkRange(owner, `${name}[1]`, betas[1], 0, 1);
}
