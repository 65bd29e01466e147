// The parts of the benchmarks that no other test runs, and that would break unnoticed when the measured code changes.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { buildProbe, runProbe } from "../../bench/ceiling.mjs";
import { opOf } from "../../bench/layers/edgegrad.mjs";
import { kMeasured } from "../../bench/workloads/ops.mjs";
import { eg } from "../support/engine.mjs";

after(() => eg.shutdown());

test("the probe of products builds and says what this machine can do", async () => {
  const lines = await runProbe(process.execPath, await buildProbe("simd"), { n: 128, rounds: 1 });
  const rates = (kind) => lines.filter(({ bench }) => bench === kind).map(({ gflops }) => gflops);
  for (const kind of ["ceiling", "gemm"]) {
    assert.ok(rates(kind).length > 0, kind);
    assert.ok(rates(kind).every((rate) => rate > 0));
  }
});

describe("single ops", () => {
  for (const { id, one, isWithBackward } of kMeasured) {
    test(`${id} run, and leave nothing behind`, () => {
      const run = opOf(one.op, one.sizes, isWithBackward);
      run();
      const before = eg.memory().tensors;
      run();
      assert.equal(eg.memory().tensors, before);
    });
  }
});
