// Every op in the op table on the device: results and derivatives match the CPU's, and docs/ops.md lists which ones do. It takes longest of all files,
// so it has the name that starts first.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { deviceParts, kOpPage } from "../../js/support/op_page.mjs";
import { opTable } from "../../js/support/op_samples.mjs";
// Imported before anything that starts the engine without the device.
import { options } from "../support/engine.mjs";
import { compareLaws, isCallable, reportOnDevice } from "../support/laws/op_laws.mjs";
import { reasonOf, reasonTable } from "../support/on_the_cpu.mjs";
import { deviceCell } from "../support/op_cells.mjs";

const { cells, onTheCpu } = deviceParts(readFileSync(kOpPage, "utf8"));

function assertExcused(fallbacks) {
  for (const { kernel, dtypes, op } of fallbacks) {
    assert.ok(reasonOf(kernel), `${kernel} of ${dtypes} (for ${op}) is computed on the CPU`);
  }
}

describe("an op on the device is as on the CPU, and docs/ops.md says so:", options, () => {
  for (const op of opTable.filter(isCallable)) {
    test(op.name, () => {
      const report = reportOnDevice(op);
      assert.deepEqual(report.problems, []);
      for (const { fallbacks } of Object.values(report.dtypes)) assertExcused(fallbacks);
      if (op.kind !== "internal") assert.equal(cells[op.js], deviceCell(report));
    });
  }

  test("what the CPU computes in its place", () => {
    assert.equal(onTheCpu, reasonTable());
  });
});

describe(
  "with views, without elements, in place, out of range an op is as on the CPU:",
  options,
  () => {
    for (const op of opTable.filter(isCallable)) {
      test(op.name, () => {
        const compared = compareLaws(op);
        assert.deepEqual(
          compared.flatMap(({ problems }) => problems),
          [],
        );
        for (const { fallbacks, isRefused } of compared) if (!isRefused) assertExcused(fallbacks);
      });
    }
  },
);
