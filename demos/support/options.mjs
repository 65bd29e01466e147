// Command lines of the demos.

import { parseArgs } from "node:util";

/** Returns { options }, made by `convert` of the texts on the command line, or { problem }: what is wrong with them. */
export function readCommandLine(args, options, convert) {
  try {
    const { values } = parseArgs({ args, options });
    return { options: convert(values) };
  } catch (error) {
    return { problem: error.message };
  }
}

/** Runs a demo's command line: shows its help, or what is wrong with the options, or calls `run`; sets the exit status. */
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
  throw new Error(`--${name} is one of ${choices.join(", ")}, got "${text}"`);
}

export function wholeNumber(name, text, least) {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`--${name} is a whole number of at least ${least}, got "${text}"`);
}

export function positiveNumber(name, text) {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${name} is a number above 0, got "${text}"`);
}
