// The sweep that compares all ops with PyTorch (tests/bench/sweep), as far as it works without PyTorch.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sweepCases } from "../../bench/sweep/cases.mjs";
import { prepare } from "../../bench/sweep/ours.mjs";
import {
  keptSweep,
  kSweepResults,
  ratioOf,
  speedPage,
  sweepFile,
} from "../../bench/sweep/page.mjs";
import { blasWarning } from "../../bench/torch/server.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { opTable } from "../support/op_samples.mjs";

const kCases = sweepCases();

describe("the sweep", () => {
  test("has every op", () => {
    const called = new Set(kCases.map(({ call }) => call));
    const ops = [...opTable.filter(({ kind }) => kind !== "internal"), ...compositeTable];
    assert.deepEqual(
      ops.map(({ js }) => js).filter((name) => !called.has(name)),
      [],
    );
  });

  test("has calls that run, with their gradients", () => {
    for (const case_ of kCases.filter(({ size }) => size === "small")) {
      eg.scope(() => {
        try {
          const { forward, both } = prepare(case_);
          forward();
          both?.();
        } catch (error) {
          throw new Error(`${case_.title}: ${error.message}`, { cause: error });
        }
      });
    }
  });
});

describe("the page of speeds", () => {
  const measured = { date: "1970-01-01", cpu: "a CPU", node: "1.2.3", variant: "simd", torch: "1" };
  const row = (title, size, ours, theirs) => ({
    family: "Products",
    title,
    size,
    forward: { ours, theirs },
  });

  test("says how many times as long an op takes, and names those that take longest", () => {
    const kept = keptSweep(
      [
        row("mm", "small", 1, 2),
        row("mm", "medium", 3, 2),
        row("mm", "large", 24, 2),
        row("dot", "large", 3, null),
      ],
      measured,
    );
    assert.deepEqual(JSON.parse(sweepFile(kept)), kept);
    const page = speedPage(kept);
    assert.match(page, /\| `mm` \| 0\.5 1\.5 12 \| – – – \| 24 \/ 2\.0 \|/);
    assert.match(page, /\| `dot` \| – – – \| – – – \| 3\.0 \/ – \|/);
    assert.match(page, /## More than 5 times as long\n\n[^#]*\| `mm` \| 12 \|/);
  });

  test("has no ratios to a library that does not use the processor, and names it", () => {
    const warning = blasWarning({ library: "OpenBLAS for Prescott", gflops: 6.9 }, 45);
    const kept = keptSweep([{ ...row("mm", "large", 1, 20), isUnfair: true }], {
      ...measured,
      blas: "OpenBLAS for Prescott",
      warning,
    });
    assert.equal(ratioOf({ ...row("mm", "large", 1, 20), isUnfair: true }, "forward"), null);
    const page = speedPage(kept);
    assert.match(page, /OpenBLAS for Prescott at 7 GFLOPS, edgegrad 45: [^\n]* say nothing/);
    assert.match(page, /\| `mm` \| – – – \| – – – \| 1\.0 \/ 20 \|/);
    assert.equal(blasWarning({ library: "OpenBLAS for Haswell", gflops: 77 }, 45), "");
  });

  test("is made of the results that are kept, which are of ops that the sweep has", () => {
    const kept = readJson(kSweepResults);
    const titles = new Set(kCases.map(({ title }) => title));
    const ops = Object.values(kept.families).flatMap((list) => Object.keys(list));
    assert.deepEqual(
      ops.filter((op) => !titles.has(op)),
      [],
    );
    assert.match(speedPage(kept), /\| `add` \|/);
  });
});
