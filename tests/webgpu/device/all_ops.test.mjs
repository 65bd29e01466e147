// Every op in the op table on the device: results and derivatives match the CPU's. It takes longest of all files,
// so it has the name that starts first.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { keepRun } from "../../../scripts/docs/op_runs.mjs";
import { opTable } from "../../js/support/op_samples.mjs";
// Imported before anything that starts the engine without the device.
import { options } from "../support/engine.mjs";
import { compareLaws, isCallable, reportOnDevice } from "../support/laws/op_laws.mjs";
import { reasonOf } from "../support/on_the_cpu.mjs";
import { deviceCell } from "../support/op_cells.mjs";

function assertExcused(fallbacks) {
  for (const { kernel, dtypes, op } of fallbacks) {
    assert.ok(reasonOf(kernel), `${kernel} of ${dtypes} (for ${op}) is computed on the CPU`);
  }
}

describe("an op on the device is as on the CPU:", options, () => {
  const ops = opTable.filter(isCallable);
  const cells = {};
  // For the list of ops in the docs.
  after(async () => {
    if (Object.keys(cells).length === ops.length) await keepRun("device", cells);
  });
  for (const op of ops) {
    test(op.name, () => {
      const report = reportOnDevice(op);
      cells[op.js] = deviceCell(report);
      assert.deepEqual(report.problems, []);
      for (const { fallbacks } of Object.values(report.dtypes)) assertExcused(fallbacks);
    });
  }
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
