// Functions with their options, losses with their reductions, and large operands on the device match the CPU.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { opTable } from "../../js/support/op_samples.mjs";
// Imported before anything that starts the engine without the device.
import { options } from "../support/engine.mjs";
import { compareCalls } from "../support/laws/op_laws.mjs";
import { kOptionCases, reductionCases } from "../support/laws/option_cases.mjs";

const kDerived = { dtype: "float32", orders: 2 };

function assertAlike(op, texts, how) {
  for (const { problems, fallbacks, isRefused } of compareCalls(op, texts, how)) {
    assert.deepEqual(problems, []);
    assert.deepEqual(fallbacks, []);
    assert.equal(isRefused, false);
  }
}

describe("with its options a function on the device is as on the CPU:", options, () => {
  for (const [js, texts] of Object.entries(kOptionCases))
    test(js, () => assertAlike({ js, name: js }, texts, kDerived));
});

describe("with every reduction a loss on the device is as on the CPU:", options, () => {
  for (const op of opTable.filter(({ family }) => family === "Losses")) {
    test(op.js, () => assertAlike(op, reductionCases(op), kDerived));
  }
});

describe(
  "with more workgroups than one dimension has, an op on the device is as on the CPU:",
  options,
  () => {
    // More elements than 65535 workgroups of 256 invocations process.
    const large = "T([4099]).detach().repeat(4093)";
    const kLarge = {
      add: [`${large}, 1`],
      clone: [large],
      gt: [`${large}, 0`],
      cumsum: [`${large}.narrow(0, 0, 16777000).reshape(-1, 8), 1`],
      neg: [`${large}.reshape(4093, 4099).t()`],
    };
    for (const [js, texts] of Object.entries(kLarge))
      test(js, () => assertAlike({ js, name: js }, texts, { dtype: "float32" }));
  },
);
