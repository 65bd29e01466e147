// Training in this package, through its public API.

import * as eg from "edgegrad";
import { kModels } from "../models/edgegrad.mjs";

const kOptimizers = { sgd: eg.optim.SGD, adam: eg.optim.Adam, adamw: eg.optim.AdamW };

/** A step of training; returns the loss. */
export function trainingStep({ model, optimizer }, { x, y }) {
  optimizer.zeroGrad();
  const loss = eg.crossEntropy(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss;
}

/** Returns the model and the optimizer of a task. */
export function start(device, { model: name, layers, optimizer: { name: rule, rate } }) {
  const model = kModels[name].start(layers).to(device);
  return { model, optimizer: new kOptimizers[rule](model.parameters(), { lr: rate }) };
}

/** Returns a batch as tensors on the device. */
export function inputsOf(device, { model }, batch) {
  const { x, y } = kModels[model].inputs(batch);
  return { x: x.to(device), y: y.to(device) };
}

/** Returns {step, loss} of a task on a device; a step is captured if that is wanted. */
export function startTrainer(device, task, batches, { captured = false } = {}) {
  const training = start(device, task);
  const tensors = batches.map((batch) => inputsOf(device, task, batch));
  const eager = (x, y) => trainingStep(training, { x, y });
  const { x, y } = tensors[0];
  const run = captured ? eg.capture((...given) => eager(...given).detach(), x, y) : eager;
  let loss = null;
  return {
    step(i) {
      const batch = tensors[i % tensors.length];
      loss?.dispose();
      loss = eg.scope(() => run(batch.x, batch.y));
    },
    loss: () => loss.itemAsync(),
  };
}
