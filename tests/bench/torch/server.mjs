// A Python process that answers commands, one line of JSON each.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Debian's Python, for which there is the package python3-torch. */
export const kPython = "/usr/bin/python3";

/** Starts a program of this folder on one thread. Returns a function that sends a command and resolves to the answer. */
export function spawnServer(program) {
  const path = fileURLToPath(new URL(`${program}`, import.meta.url));
  const python = spawn(kPython, [path], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
  });
  const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  return async (command) => {
    python.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`Error: Python exited during ${command.do}`);
    return JSON.parse(value);
  };
}
