// Training in this package, through its public API.

import * as eg from "edgegrad";
import { kModels } from "../models/edgegrad.mjs";

const kOptimizers = { sgd: eg.optim.SGD, adam: eg.optim.Adam, adamw: eg.optim.AdamW };

/** Returns {step, loss} of a task on a device; a step is captured if that is wanted. */
export function startTrainer(device, task, batches, { captured = false } = {}) {
  const { model: name, layers, optimizer: rule } = task;
  const model = kModels[name].start(layers).to(device);
  const optimizer = new kOptimizers[rule.name](model.parameters(), { lr: rule.rate });
  const inputs = batches.map((batch) => {
    const { x, y } = kModels[name].inputs(batch);
    return [x.to(device), y.to(device)];
  });
  return trainerOf(model, optimizer, inputs, captured);
}

/** Returns {step, loss} of a model on the device where it is: the steps take the pairs of `inputs` in turn. */
export function trainerOf(model, optimizer, inputs, captured) {
  const call = (x, y) => {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const run = captured ? eg.capture(call, ...inputs[0]) : call;
  let loss = null;
  return {
    step(i) {
      loss?.dispose();
      loss = eg.scope(() => run(...inputs[i % inputs.length]));
    },
    loss: () => loss.itemAsync(),
  };
}
