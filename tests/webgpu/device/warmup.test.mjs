// eg.warmup() on the device: the first step that counts compiles nothing, and computes what it would have without.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg, onGpu, options } from "../support/engine.mjs";

const { nn, optim } = eg;

async function lossesOf(isWarm) {
  eg.manualSeed(5);
  const model = new nn.Sequential(new nn.Linear(7, 5), new nn.Tanh(), new nn.Dropout(0.5)).to(
    "webgpu",
  );
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.05 });
  const x = onGpu(Array.from({ length: 21 }, (_, i) => Math.sin(i))).view([3, 7]);
  const step = () =>
    eg.scope(() => {
      optimizer.zeroGrad();
      const loss = model.call(x).square().mean();
      loss.backward();
      optimizer.step();
      return loss.detach();
    });
  const before = eg.webgpuStats()?.pipelines ?? 0;
  if (isWarm) await eg.warmup(step, { restore: [model, optimizer] });
  const warm = eg.webgpuStats().pipelines;
  const losses = [await step().itemAsync(), await step().itemAsync()];
  return { losses, compiled: warm - before, rest: eg.webgpuStats().pipelines - warm };
}

test("the steps after it compile nothing and are the first ones", options, async () => {
  const warm = await lossesOf(true);
  assert.ok(warm.compiled > 3, `${warm.compiled} pipelines`);
  assert.equal(warm.rest, 0);
  const cold = await lossesOf(false);
  assert.deepEqual(warm.losses, cold.losses);
});

test("an error on the device rejects nothing else", options, async () => {
  const bad = eg.tensor([9], { dtype: "int64" }).to("webgpu");
  await eg.warmup(() => onGpu([1, 2, 3]).indexSelect(0, bad));
  assert.deepEqual([...(await onGpu([1, 2]).add(1).data())], [2, 3]);
});
