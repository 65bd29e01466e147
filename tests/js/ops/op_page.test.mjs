// The dtypes that every op supports, found by running it, and the page that lists them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertSameLines } from "../support/assert.mjs";
import { deviceParts, kOpPage, opPage } from "../support/op_page.mjs";
import { reportOps } from "../support/op_report.mjs";

// Differences of booleans are not numbers, and those of uint8 wrap around before they are used by
// the op: such an op accepts the dtype, but the page does not list it.
const kOtherArithmetic = ["uint8", "bool"];

const reports = reportOps();

test("an op computes the same in every dtype, or refuses the dtype", () => {
  const problems = reports.flatMap(({ op, problems: own }) =>
    own
      .filter(({ dtype }) => !kOtherArithmetic.includes(dtype))
      .map(({ dtype, message }) => `${op.js} ${dtype}: ${message}`),
  );
  assert.deepEqual(problems, []);
});

test("docs/ops.md is what npm run docs writes, but for the device, whose tests see to that", () => {
  const page = readFileSync(kOpPage, "utf8");
  assertSameLines(page, opPage(reports, deviceParts(page)));
});
