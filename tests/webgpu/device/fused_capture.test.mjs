// A captured step in which dispatches are parts of others, as on a GPU: a software adapter that says it is hardware.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as eg from "edgegrad";
import { assertClose } from "../../js/support/assert.mjs";
import { gpuAsHardware } from "../support/own_gpu.mjs";

const { nn, optim } = eg;
const kSteps = 3;
const kTolerance = { rtol: 1e-4, atol: 1e-5 };

class Block extends nn.Module {
  constructor() {
    super();
    this.words = new nn.Embedding(5, 8);
    this.places = new nn.Embedding(6, 8);
    this.norm = new nn.LayerNorm(8);
    this.mlp = new nn.Sequential(new nn.Linear(8, 16), new nn.GELU(), new nn.Linear(16, 8));
    this.head = new nn.Linear(8, 5);
  }
  forward(text) {
    const x = this.words.call(text).add(this.places.weight);
    const mixed = x.add(this.mlp.call(this.norm.call(x)));
    return this.head.call(mixed).flatten(0, 1);
  }
}

/** Trains on a device; resolves to the parameters after it, and the dispatches of a step if there are any. */
async function train(device, isCaptured) {
  eg.manualSeed(4);
  const model = new Block().to(device);
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.9 });
  const batches = Array.from({ length: kSteps + 2 }, () => [
    eg.randint(0, 5, [3, 6]),
    eg.randint(0, 5, [18]),
  ]).map((batch) => batch.map((one) => one.to(device)));
  const step = (text, next) => {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(model.call(text), next);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  // Capturing performs two steps.
  let run = step;
  if (isCaptured) run = eg.capture(step, ...batches[0]);
  else for (let i = 0; i < 2; i++) step(...batches[0]);
  const losses = [];
  let dispatches;
  for (const batch of batches.slice(2)) {
    const before = eg.webgpuStats()?.dispatches;
    losses.push(await eg.scope(() => run(...batch)).itemAsync());
    dispatches = eg.webgpuStats()?.dispatches - before;
  }
  const parameters = [];
  for (const parameter of model.parameters()) parameters.push(...(await parameter.data()));
  return { values: [...losses, ...parameters], dispatches };
}

test("a captured step computes the same in fewer dispatches", async () => {
  await eg.init({ webgpu: "required", gpu: gpuAsHardware });
  const cpu = await train("cpu", false);
  const eager = await train("webgpu", false);
  const captured = await train("webgpu", true);
  assertClose(eager.values, cpu.values, kTolerance);
  assertClose(captured.values, eager.values, kTolerance);
  assert.ok(
    captured.dispatches < eager.dispatches,
    `${eager.dispatches} dispatches, captured ${captured.dispatches}`,
  );
});
