// Losses of differences warn when input and target are broadcast to each other: a forgotten dimension trains on wrong pairs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

function warningsOf(work) {
  const { warn } = console;
  const warnings = [];
  console.warn = (message) => warnings.push(message);
  try {
    work();
  } finally {
    console.warn = warn;
  }
  return warnings;
}

const [input, target] = [eg.ones([4, 1]), eg.zeros([4])];

// This comes first, because a function warns once.
test("equal shapes warn of nothing, also inside vmap", () => {
  const samples = eg.ones([3, 2]);
  const one = eg.zeros([2]);
  assert.deepEqual(
    warningsOf(() => {
      eg.mseLoss(input, eg.zeros([4, 1]));
      eg.func.vmap((row) => eg.mseLoss(row, one))(samples);
    }),
    [],
  );
});

describe("a warning names both shapes and the one they are broadcast to, once:", () => {
  const { functional } = eg.nn;
  const calls = {
    mseLoss: [() => eg.mseLoss(input, target), () => functional.mseLoss(input, { target })],
    l1Loss: [() => new eg.nn.L1Loss().call(input, target), () => eg.l1Loss(input, target)],
    smoothL1Loss: [
      () => functional.smoothL1Loss(input, { target }),
      () => eg.smoothL1Loss(input, target),
    ],
    huberLoss: [() => eg.huberLoss(input, target, "sum", 2), () => eg.huberLoss(input, target)],
  };
  for (const [name, [first, second]] of Object.entries(calls)) {
    test(name, () => {
      let loss;
      const [warning, ...more] = warningsOf(() => {
        loss = first();
        second();
      });
      assert.deepEqual(more, []);
      assert.ok(warning.startsWith(`edgegrad: [${name}] `), warning);
      assert.match(warning, /\[4, 1\] and target \[4\]: they are broadcast to \[4, 4\]/);
      assert.match(warning, /target\.reshape\(input\.shape\)/);
      assert.ok(loss.item() > 0);
    });
  }
});
