// A training that goes back and forth between PyTorch and JavaScript: with `--save FILE.pt` it goes on from the state of the model and
// the optimizer in the file, and writes it when it is done. torch_checkpoint.py does the same in Python.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { exportIfWanted } from "./support/onnx.mjs";
import { kSteps, stepsOf, tell } from "./support/steps.mjs";

const { save, steps: wanted } = parseArgs({
  options: { ...kSteps, save: { type: "string" } },
}).values;
const steps = stepsOf(wanted, 200);
await eg.init();
eg.manualSeed(0);

const { Linear, Sequential, Tanh } = eg.nn;
const model = new Sequential(new Linear(1, 32), new Tanh(), new Linear(32, 1));
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
let done = 0;

if (save !== undefined && existsSync(save)) {
  const state = await eg.io.loadTorch(readFileSync(save));
  model.loadStateDict(state.model);
  optimizer.loadStateDict(state.optimizer);
  done = state.step;
}

// A curve to fit: the same points on both sides.
const x = eg.linspace(-3, 3, 100).unsqueeze(1);
const y = x.sin().mul(x);

for (let step = 0; step < steps; step++) {
  eg.scope(() => {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    tell(step, steps, { loss: loss.item() });
  });
}

if (save !== undefined) {
  const state = {
    model: model.stateDict(),
    optimizer: optimizer.stateDict(),
    step: done + steps,
  };
  writeFileSync(save, await eg.io.saveTorch(state));
  console.log(`${save}: ${done + steps} steps in all`);
}

await exportIfWanted("torch_checkpoint", model, [x]);
