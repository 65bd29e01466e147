// Ops that wait for the device, because the CPU computes them or checks what they report, end wherever they are called: a process
// that does not is ended.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../../js/support/child.mjs";
import { options } from "../support/engine.mjs";
import { kCalls, kPlaces } from "../support/fallback_programs.mjs";
import { kernelsWithReason } from "../support/on_the_cpu.mjs";

const kPrograms = new URL("../support/fallback_programs.mjs", import.meta.url).href;

function run(body) {
  return runProgram(`import * as eg from "edgegrad";
    import { kPlaces } from ${JSON.stringify(kPrograms)};
    await eg.init({ webgpu: "required" });
    ${body}`);
}

// Each call reports its name when it has ended.
function assertEnded({ status, signal, stdout, stderr }, times = 1) {
  const ended = stdout.trim().split("\n");
  for (const name of Object.keys(kCalls))
    assert.equal(ended.filter((line) => line === name).length, times, `${name}: ${stderr}`);
  assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
}

describe("an op that waits for the device ends", options, () => {
  for (const place of Object.keys(kPlaces)) {
    test(`${place} on the main thread`, async () => {
      const ended = await run(`await kPlaces[${JSON.stringify(place)}]();`);
      assertEnded(ended);
      for (const kernel of kernelsWithReason(/many short steps/))
        assert.match(ended.stderr, new RegExp(`no kernel '${kernel}'`));
    });
  }

  test("in workers, at the same time", async () => {
    const places = ["synchronously", "in backward", "asynchronously"];
    const ended = await run(`
      const places = ${JSON.stringify(places)};
      await Promise.all(places.map((place) => eg.spawn(${JSON.stringify(kPrograms)}, "run", place)));`);
    assertEnded(ended, places.length);
  });
});
