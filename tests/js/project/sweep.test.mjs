// The sweep that compares all ops with PyTorch (tests/bench/sweep), as far as it works without PyTorch.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sweepCases } from "../../bench/sweep/cases.mjs";
import { prepare } from "../../bench/sweep/ours.mjs";
import { speedPage } from "../../bench/sweep/page.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
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

describe("docs/speed.md", () => {
  const measured = { date: "1970-01-01", cpu: "a CPU", node: "1.2.3", variant: "simd", torch: "1" };
  const row = (title, size, ours, theirs) => ({
    family: "Products",
    title,
    size,
    forward: { ours, theirs },
  });

  test("says how many times as long an op takes, and names those that take longest", () => {
    const page = speedPage(
      [
        row("mm", "small", 1, 2),
        row("mm", "medium", 3, 2),
        row("mm", "large", 24, 2),
        row("dot", "large", 3, null),
      ],
      measured,
    );
    assert.match(page, /\| `mm` \| 0\.5 1\.5 12 \| – – – \| 24 \/ 2\.0 \|/);
    assert.match(page, /\| `dot` \| – – – \| – – – \| 3\.0 \/ – \|/);
    assert.match(page, /## More than 5 times as long\n\n[^#]*\| `mm` \| 12 \|/);
  });
});
