// This package, through its public API only.

import * as eg from "edgegrad";
import { kModels } from "../models/edgegrad.mjs";

export async function load({ threads = 1 } = {}) {
  await eg.init({ threads, webgpu: "off" });
  const { variant, threads: started } = eg.runtime();
  const detail = `${variant}, ${started} thread${started === 1 ? "" : "s"}`;
  return { detail, variant, product, chain, trainer, plainStep };
}

function product(layout, n, a, b) {
  const matrix = (numbers, isTransposed) => {
    const stored = eg.tensor(numbers).view([n, n]);
    return isTransposed ? stored.t() : stored;
  };
  const x = matrix(a, layout[0] === "T");
  const y = matrix(b, layout[1] === "T");
  return () => eg.matmul(x, y).dispose();
}

async function chain(length) {
  const x = eg.tensor([1, 2, 3, 4], { requiresGrad: true });
  const factor = eg.tensor([1.0001, 0.9999, 1.0001, 0.9999]);
  const ones = eg.ones([4]);
  const times = { start: performance.now() };
  let y = x;
  for (let i = 0; i < length; ++i) y = y.mul(factor);
  times.recorded = performance.now();
  y.backward(ones);
  times.end = performance.now();
  return times;
}

const kOptimizers = { sgd: eg.optim.SGD, adam: eg.optim.Adam, adamw: eg.optim.AdamW };

function trainingStep({ model, optimizer }, { x, y }) {
  optimizer.zeroGrad();
  const loss = eg.crossEntropy(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss;
}

function start({ model: name, layers, optimizer: { name: rule, rate } }) {
  const model = kModels[name].start(layers);
  return { model, optimizer: new kOptimizers[rule](model.parameters(), { lr: rate }) };
}

function trainer(task, batches) {
  const training = start(task);
  const tensors = batches.map(kModels[task.model].inputs);
  let loss = null;
  return {
    step(i) {
      loss = trainingStep(training, tensors[i % tensors.length]);
    },
    loss: () => loss.itemAsync(),
  };
}

/** A step as a user would first write it: no dispose(), no scope. */
function plainStep(task) {
  const training = start(task);
  return {
    step: (batch) => trainingStep(training, kModels[task.model].inputs(batch)),
    read: (loss) => loss.itemAsync(),
    memory: () => ({ tensors: eg.memory().tensors, bytes: eg.memory().cpuBytes }),
  };
}
