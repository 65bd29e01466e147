// What the examples share: how many steps they take, and how they tell of it.

import { parseArgs } from "node:util";

/** The option --steps of parseArgs(). */
export const kSteps = { steps: { type: "string" } };

/** The number after --steps, or `usual` without one. */
export function stepsWanted(usual) {
  return stepsOf(parseArgs({ options: kSteps }).values.steps, usual);
}

/** What --steps says, or `usual` if nothing. */
export function stepsOf(text = "", usual = 1) {
  if (text === "") return usual;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  console.error(`--steps takes a whole number above 0, not ${JSON.stringify(text)}`);
  process.exit(2);
}

/** Prints a step's numbers: some twenty lines in all, the first and the last among them. */
export function tell(step, steps, numbers) {
  const every = Math.ceil(steps / 20);
  if (step % every !== 0 && step !== steps - 1) return;
  const texts = Object.entries(numbers).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  console.log([`step ${step + 1}`, ...texts].join("  "));
}
