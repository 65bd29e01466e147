// Runs child processes, with their output shown or captured, and reports in one line what a step did and how long it
// took.

import { spawn, spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the checkout. */
export const kRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** Returns the folder for files that outlive a checkout. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "edgegrad");
}

/** A command that failed; `output` is its output if that was not shown. */
export class CommandError extends Error {
  constructor(command, status, output = "") {
    super(`${command} failed (${status})`);
    this.status = status;
    this.output = output;
  }
}

/** Runs a command on this terminal and resolves to its exit status (128 + number if it was killed by a signal). */
export function show(command, args = [], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signalStatus(signal)));
  });
}

/** Runs a command on this terminal like show(), and calls `onText` with all of its output. */
export function showAnd(onText, command, args = [], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["inherit", "pipe", "pipe"], ...options });
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.setEncoding("utf8").on("data", (text) => {
        to.write(text);
        onText(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => resolve(code ?? signalStatus(signal)));
  });
}

/**
 * Runs a command without showing its output; resolves to the output, or rejects with an error that contains it. `onText` is called with
 * each piece of the output.
 */
export function quiet(command, args = [], { onText = () => {}, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        onText(text);
      });
    }
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(output);
      reject(new CommandError([command, ...args].join(" "), code ?? signal, output));
    });
  });
}

/** Returns a command's standard output, or null when it cannot be run or fails. */
export function read(command, args = []) {
  const result = spawnSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return result.status === 0 ? result.stdout.trim() : null;
}

const kReportEvery = 10_000; // ms

/**
 * Runs `work` as one step: prints a line with its duration when it is done, or its whole output if it failed. Until then, it prints a line
 * every ten seconds, with the progress that `work` passes to its argument: `report("40 of 87")`.
 */
export async function step(title, work) {
  const start = performance.now();
  let state = "at work";
  const timer = setInterval(
    () => console.log(`  ${title}: ${state}, ${seconds(start)}`),
    kReportEvery,
  );
  try {
    const result = await work((text) => {
      state = text;
    });
    console.log(`  ${title} (${seconds(start)})`);
    return result;
  } catch (error) {
    console.error(`  ${title}: failed (${seconds(start)})`);
    if (error.output) console.error(error.output.trimEnd());
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Runs a script's main function: exits with its result, and prints an expected failure without a stack. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    console.error(isExpected(error) ? error.message : error);
    process.exitCode = 1;
  }
}

/** True for an error that is reported without its stack: of a command, an argument, or expected(). */
export function isExpected(error) {
  const isOfArguments = error.code?.startsWith?.("ERR_PARSE_ARGS_") === true;
  return error instanceof CommandError || isOfArguments || error.expected === true;
}

/** Returns an error that is reported without its stack. */
export function expected(message) {
  return Object.assign(new Error(message), { expected: true });
}

export function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Returns the exit status that a shell reports for a process ended by this signal. */
export function signalStatus(signal) {
  const numbers = { SIGINT: 2, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15, SIGABRT: 6 };
  return 128 + (numbers[signal] ?? 0);
}
