// The parts of the benchmarks that no other test runs, and that would break unnoticed when the measured code changes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildProbe, runProbe } from "../../bench/ceiling.mjs";

test("the probe of products builds and says what this machine can do", async () => {
  const lines = await runProbe(process.execPath, await buildProbe("simd"), { n: 128, rounds: 1 });
  const rates = (kind) => lines.filter(({ bench }) => bench === kind).map(({ gflops }) => gflops);
  for (const kind of ["ceiling", "gemm"]) {
    assert.ok(rates(kind).length > 0, kind);
    assert.ok(rates(kind).every((rate) => rate > 0));
  }
});
