// Running programs in separate processes.

import { spawn } from "node:child_process";
import { kRoot } from "./files.mjs";

/** The most that a program takes: only one that hangs takes as long, also on a busy machine. */
const kMost = 300_000; // ms

/** Runs Node with `args`, in the checkout unless `cwd` says otherwise; resolves to { status, signal, stdout, stderr }. */
export function runNode(args, options = {}) {
  const { cwd = kRoot, env = process.env, onOutput = () => {} } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, timeout: kMost });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (text) => {
        output[name] += text;
        onOutput(child, output);
      });
    }
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status, signal, ...output }));
  });
}

/** Runs a program given as a string. */
export function runProgram(text, options) {
  return runNode(["--input-type=module", "--eval", text], options);
}
