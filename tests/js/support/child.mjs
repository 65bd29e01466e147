// Running programs in separate processes.

import { spawn } from "node:child_process";
import { kRoot } from "./files.mjs";

/** Runs Node with `args`, in the checkout unless `cwd` says otherwise; resolves to { status, signal, stdout, stderr }. */
export function runNode(args, options = {}) {
  const { cwd = kRoot, env = process.env, timeout = 120_000, onOutput = () => {} } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, timeout });
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
