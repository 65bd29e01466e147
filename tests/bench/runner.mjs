// Runs programs that measure, in processes of their own, and collects their reports.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));
const kOtherDist = new URL("compare/other_dist.mjs", import.meta.url).href;

/**
 * Runs a program, which sends messages and at last {isDone: true}. Resolves to the reason why it ended earlier, or to null. It is
 * killed after `limit` seconds.
 */
export function runProgram(program, given, onMessage, { limit, ...options } = {}) {
  const child = fork(program, given, {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    killSignal: "SIGKILL",
    ...(limit && { timeout: limit * 1000 }),
    ...options,
  });
  let output = "";
  let isDone = false;
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output = (output + text).slice(-8000);
  });
  child.on("message", (message) => {
    if (message.isDone) isDone = true;
    else onMessage(message);
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      if (child.killed) resolve(`> ${limit} s`);
      else resolve(isDone ? null : (errorIn(output) ?? `exited with ${signal ?? code}`));
    });
  });
}

/**
 * Runs child.mjs. Resolves to {values, errors, data, detail, failure}. Never rejects, because a peer may fail. `dist` is the folder of
 * another build of this package, to be measured instead of the checkout's.
 */
export async function runChild(node, { workload, contender, quick, limit, dist }) {
  const result = { values: {}, errors: {}, data: {}, detail: "" };
  const onMessage = (message) => {
    if (message.detail !== undefined) Object.assign(result, message);
    else if (message.error !== undefined) result.errors[message.id] = message.error;
    else if (message.data !== undefined) result.data[message.id] = message.data;
    else result.values[message.id] = message.value;
  };
  const failure = await runProgram(
    kChild,
    [JSON.stringify({ workload, contender, quick })],
    onMessage,
    {
      limit,
      execPath: node,
      ...(dist && { execArgv: ["--import", kOtherDist] }),
      env: { ...process.env, ...(dist && { EG_BENCH_DIST: dist }) },
    },
  );
  return { ...result, failure };
}

/** Returns the line with the name and message in the report of an uncaught error. */
export function errorIn(text) {
  return text.match(/^\s*((?:\w+: )?\w*Error\b.*)$/m)?.[1].trim() ?? null;
}
