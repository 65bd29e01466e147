// Runs child.mjs and collects its reports.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const kChild = fileURLToPath(new URL("child.mjs", import.meta.url));
const kOtherDist = new URL("compare/other_dist.mjs", import.meta.url).href;

/**
 * Resolves to {values, errors, data, detail, failure}. Never rejects, because a peer may fail. `dist` is the folder of another
 * build of this package, to be measured instead of the checkout's.
 */
export function runChild(node, { workload, contender, quick, limit, environment, dist }) {
  const result = { values: {}, errors: {}, data: {}, detail: "", failure: null };
  const child = fork(kChild, [JSON.stringify({ workload, contender, quick })], {
    execPath: node,
    execArgv: dist ? ["--import", kOtherDist] : [],
    env: { ...process.env, ...environment, ...(dist && { EG_BENCH_DIST: dist }) },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let output = "";
  let isDone = false;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, limit * 1000);
  child.stderr.setEncoding("utf8").on("data", (text) => {
    output = (output + text).slice(-8000);
  });
  child.on("message", (message) => {
    if (message.isDone) isDone = true;
    else if (message.detail !== undefined) Object.assign(result, message);
    else if (message.error !== undefined) result.errors[message.id] = message.error;
    else if (message.data !== undefined) result.data[message.id] = message.data;
    else result.values[message.id] = message.value;
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (isLate) result.failure = `> ${limit} s`;
      else if (!isDone) result.failure = errorIn(output) ?? `exited with ${signal ?? code}`;
      resolve(result);
    });
  });
}

/** Returns the line with the name and message in the report of an uncaught error. */
export function errorIn(text) {
  return text.match(/^\s*((?:\w+: )?\w*Error\b.*)$/m)?.[1].trim() ?? null;
}
