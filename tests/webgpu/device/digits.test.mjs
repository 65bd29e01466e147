// The demo's convolutional network (npm start -- --model cnn --device webgpu) on real digits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadDigits } from "../../../demos/mnist/data.mjs";
import { makeModel, trainStep } from "../../../demos/mnist/model.mjs";
import { eg, onBoth, options } from "../support/engine.mjs";

const kSteps = 100;
const kBatch = 8;
// At the demo's own rate, two runs on the CPU whose first weights differ by rounding are 1 % apart after 87 steps.
const kRate = 5e-4;

describe("the demo's cnn on the device", options, () => {
  test("has the CPU's losses over its first 100 steps, within 1 %", async () => {
    const { train } = loadDigits();
    const { cpu, gpu } = await onBoth(async (device) => {
      const model = makeModel("cnn", device);
      const optimizer = new eg.optim.Adam(model.parameters(), { lr: kRate });
      const losses = [];
      for (let step = 0; step < kSteps; step++) {
        const places = Array.from({ length: kBatch }, (_, i) => step * kBatch + i);
        losses.push(trainStep(model, optimizer, train.getBatch(places)));
      }
      return losses;
    });
    cpu.forEach((right, step) => {
      const gap = Math.abs(gpu[step] - right);
      assert.ok(gap <= 0.01 * right, `loss ${gpu[step]} at step ${step}, ${right} on the CPU`);
    });
    const mean = (losses) => losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    assert.ok(mean(gpu.slice(-20)) < 0.5 * mean(gpu.slice(0, 20)), "it does not learn");
  });
});
