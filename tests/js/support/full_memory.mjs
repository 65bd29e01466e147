// Programs that fill the memory of the engine. Each runs in a separate process.

import assert from "node:assert/strict";
import { runProgram } from "./child.mjs";

/**
 * The part of a program that defines fill(), which allocates blocks of half the size while that succeeds, from `largest` to `smallest`
 * bytes; empty(), which frees them; and print(), for a value that printedBy() returns. `eg` must be there.
 */
export const filling = (largest, smallest) => `
  const filling = [];
  const fill = () => {
    for (let bytes = ${largest}; bytes >= ${smallest}; ) {
      try {
        filling.push(eg.empty([bytes], { dtype: "uint8" }));
      } catch (error) {
        if (error.code !== "OutOfMemory") throw error;
        bytes /= 2;
      }
    }
  };
  const empty = () => {
    for (const t of filling.splice(0)) t.dispose();
  };
  const print = (value) => console.log(JSON.stringify(value));
`;

/** Runs a program, which must end well, and returns what it has printed. */
export async function printedBy(text) {
  const { status, signal, stdout, stderr } = await runProgram(text);
  assert.deepEqual({ status, signal }, { status: 0, signal: null }, stdout + stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
