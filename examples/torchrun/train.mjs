// A training that begins in Node and goes on under torchrun, and back: with `--save FILE.pt` it goes on from the checkpoint in the file, and
// writes it when it is done. train.py does the same in PyTorch, by several processes.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { kSteps, stepsOf } from "../support/steps.mjs";

const {
  save,
  steps: wanted,
  batch,
} = parseArgs({
  options: { ...kSteps, save: { type: "string" }, batch: { type: "string", default: "32" } },
}).values;
const steps = stepsOf(wanted, 20);
await eg.init();
eg.manualSeed(0);

const { Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;
const model = new Sequential(
  new Conv2d(1, 4, 3, { padding: 1 }),
  new ReLU(),
  new MaxPool2d(2),
  new Flatten(),
  new Linear(4 * 4 * 4, 10),
);
const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 1e-2 });
const scheduler = new eg.optim.lrScheduler.CosineAnnealingLR(optimizer, { tMax: 100 });
let done = 0;

if (save !== undefined && existsSync(save)) {
  const state = await eg.io.loadTorch(readFileSync(save));
  model.loadStateDict(state.model);
  optimizer.loadStateDict(state.optimizer);
  scheduler.loadStateDict(state.scheduler);
  eg.random.setState(state.random);
  done = state.step;
}

// The same images on both sides: PyTorch draws the same numbers from a seed.
const generator = new eg.Generator(1);
const images = eg.randn([512, 1, 8, 8], { generator });
const labels = images
  .flatten(1)
  .matmul(eg.randn([64, 10], { generator }))
  .argmax(1);

for (let step = done; step < done + steps; step++) {
  eg.scope(() => {
    const chosen = eg.randint(0, images.shape[0], [Number(batch)]);
    const noise = eg.randn([Number(batch), 1, 8, 8]).mul(0.1);
    const x = images.indexSelect(0, chosen).add(noise);
    const loss = eg.crossEntropy(model.call(x), labels.indexSelect(0, chosen));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    scheduler.step();
    console.log(`step ${step + 1}  loss ${loss.item().toFixed(7)}`);
  });
}

if (save !== undefined) {
  const state = {
    model: model.stateDict(),
    // The optimizer's state is in the order of the parameters.
    parameters: [...model.namedParameters()].map(([name]) => name),
    optimizer: optimizer.stateDict(),
    scheduler: scheduler.stateDict(),
    random: eg.random.getState(),
    step: done + steps,
  };
  writeFileSync(save, await eg.io.saveTorch(state));
}
