// A Python process that answers commands: a line of JSON each.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Debian's, which has the package python3-torch. */
export const kPython = "/usr/bin/python3";

/** Starts a program of ../torch on one thread, and returns what asks it: a command for an answer. */
export function spawnServer(program) {
  const path = fileURLToPath(new URL(`../torch/${program}`, import.meta.url));
  const python = spawn(kPython, [path], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" },
  });
  const answers = createInterface({ input: python.stdout })[Symbol.asyncIterator]();
  return async (command) => {
    python.stdin.write(`${JSON.stringify(command, encoded)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error(`Error: Python ended at ${command.do}`);
    return JSON.parse(value);
  };
}

/** Typed arrays as text: they are objects by the time a replacer sees them, but for what holds them. */
function encoded(key, value) {
  const original = this[key];
  const kind = original instanceof Float32Array ? "f32" : original instanceof Uint8Array && "u8";
  if (!kind) return value;
  const { buffer, byteOffset, byteLength } = original;
  return { [kind]: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}
