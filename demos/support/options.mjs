// Command lines of the demos.

import { parseArgs } from "node:util";

/** Returns { options }, which `convert` makes from the strings on the command line, or { problem }, a description of an error. */
export function readCommandLine(args, options, convert) {
  try {
    const { values } = parseArgs({ args, options });
    return { options: convert(values) };
  } catch (error) {
    return { problem: error.message };
  }
}

/** Runs a demo's command line: prints its help or an error in the options, or calls `run`; sets the exit status. */
export async function runCommandLine({ options, problem }, help, run) {
  if (problem) {
    console.error(`${problem}\n\n${help}`);
    process.exitCode = 2;
  } else if (options.help) {
    console.log(help);
  } else {
    process.exitCode = await run(options);
  }
}

export function oneOf(name, text, choices) {
  if (choices.includes(text)) return text;
  throw new Error(`--${name}: expected one of ${choices.join(", ")}, got "${text}"`);
}

export function wholeNumber(name, text, least) {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${name}: expected a whole number of at least ${least}, got "${text}"`);
}

export function positiveNumber(name, text) {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${name}: expected a number above 0, got "${text}"`);
}
