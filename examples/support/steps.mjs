// What the examples share: the options for the number of steps and for ONNX models, and printing progress.

import { parseArgs } from "node:util";

/** The options of all examples for parseArgs(). */
export const kSteps = { steps: { type: "string" }, onnx: { type: "string" } };

/** The number after --steps, or `usual` without one. */
export function stepsWanted(usual) {
  return stepsOf(parseArgs({ options: kSteps }).values.steps, usual);
}

/** The value of --steps as a number, or `usual` if it was not given. */
export function stepsOf(text = "", usual = 1) {
  if (text === "") return usual;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  console.error(`--steps: expected a whole number above 0, got ${JSON.stringify(text)}`);
  process.exit(2);
}

/** Prints the numbers of a step, for about twenty steps in total, including the first and the last. */
export function tell(step, steps, numbers) {
  const every = Math.ceil(steps / 20);
  if (step % every !== 0 && step !== steps - 1) return;
  const texts = Object.entries(numbers).map(([name, value]) => `${name} ${value.toFixed(4)}`);
  console.log([`step ${step + 1}`, ...texts].join("  "));
}
