// The dtypes that every op supports, found by running it, and the list of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { keepRun } from "../../../scripts/docs/op_runs.mjs";
import { opPage } from "../support/op_page.mjs";
import { reportOps } from "../support/op_report.mjs";
import { samplesOf } from "../support/op_samples.mjs";

// Differences of booleans are not numbers, and those of uint8 wrap around before they are used by
// the op: such an op accepts the dtype, but the page does not list it.
const kOtherArithmetic = ["uint8", "bool"];

const reports = reportOps();
// For the list of ops in the docs.
await keepRun("cpu", reports);

test("an op computes the same in every dtype, or refuses the dtype", () => {
  const problems = reports.flatMap(({ op, problems: own }) =>
    own
      .filter(({ dtype }) => !kOtherArithmetic.includes(dtype))
      .map(({ dtype, message }) => `${op.js} ${dtype}: ${message}`),
  );
  assert.deepEqual(problems, []);
});

test("every op has a sentence and samples, and supports what is more precise too", () => {
  const lacking = reports.flatMap(({ op, forward, gradient, second }) => {
    const has = (list, wide, narrow) => !list?.includes(narrow) || list.includes(wide);
    const isTrue = {
      "has no sentence": /^\S.*[.:]$/s.test(op.doc ?? ""),
      "has no samples": samplesOf(op).length > 0,
      "supports no dtype": forward.length > 0,
      "has float32 without float64": [forward, gradient, second].every((list) =>
        has(list, "float64", "float32"),
      ),
      "has complex64 without complex128": [forward, gradient, second].every((list) =>
        has(list, "complex128", "complex64"),
      ),
      "has gradients of fewer orders in some dtypes": isDeepStrictEqual(gradient, second),
    };
    const wrong = Object.keys(isTrue).filter((what) => !isTrue[what]);
    return wrong.map((what) => `${op.js} ${what}`);
  });
  assert.deepEqual(lacking, []);
});

test("the list of ops has each of them, with a column for a device only where there is one", () => {
  const cells = Object.fromEntries(reports.map(({ op }) => [op.js, "everywhere"]));
  const withDevice = opPage(reports, { cells, onTheCpu: "| kernel | why on the CPU |" });
  const without = opPage(reports, null);
  for (const { op } of reports)
    for (const page of [withDevice, without]) assert.ok(page.includes(`\n| \`${op.js}\` |`), op.js);
  assert.match(withDevice, /\| webgpu \|.*\| everywhere \|.*## On the CPU/s);
  assert.doesNotMatch(without, /\| webgpu \||On the CPU/);
});
