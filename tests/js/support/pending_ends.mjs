// What becomes of an operation that is pending when the engine, its device or the process ends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram } from "./child.mjs";

/** How a program ends: `code` ends it, and `after` is what it does then if it still runs. */
const kEnds = {
  "shutdown()": {
    code: "await eg.shutdown();",
    after: "report(await outcome); await start(); report(eg.ones([3]).sum().item());",
  },
  "process.exit()": { code: "process.exit();", after: "" },
  "its natural end": { code: "", after: "" },
};

/** The loss of the device that init({ gpu }) was given. */
export const kDeviceLoss = {
  "the loss of its device": {
    code: "gpu.device.destroy();",
    after: "report(await outcome); await eg.init(); report(eg.ones([3]).sum().item());",
  },
};

/**
 * Tests each of `operations` with each end. An operation is the code of an async function; `settles` are the codes of the errors
 * that its promise may come to, and `isEndless` is true if nothing but the end settles it. `start` is the code of an async function.
 */
export function testEnds(start, operations, ends = {}) {
  for (const [name, { code, settles, isEndless = false }] of Object.entries(operations)) {
    for (const [how, end] of Object.entries({ ...kEnds, ...ends })) {
      if (isEndless && how === "its natural end") continue;
      test(`${name} ends with ${how} in an error of its own promise or in none`, async () => {
        const { status, signal, stdout, stderr } = await runProgram(`
          import * as eg from "edgegrad";
          const report = (value) => console.log(String(value));
          const start = async () => { ${start} };
          const { gpu } = (await start()) ?? {};
          const operation = async () => { ${code} };
          const outcome = operation().then(
            () => "done",
            (error) => (error instanceof eg.EdgeGradError ? error.code : "not one: " + error),
          );
          // The operation has begun, and the event loop has run.
          await new Promise(setImmediate);
          ${end.code}
          ${end.after}`);
        assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
        assert.equal(stderr, "");
        if (end.after === "") return;
        const [outcome, sum] = stdout.trim().split("\n");
        const possible = isEndless ? settles : [...settles, "done"];
        assert.ok(possible.includes(outcome), `${outcome}; expected ${possible}`);
        assert.equal(sum, "3");
      });
    }
  }
}
