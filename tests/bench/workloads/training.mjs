// Training steps with the same data, starting weights and optimizer in every library, which the loss after some steps
// confirms. (With Adam our loss equals that of a float64 computation; those of the peers differ in the third digit,
// because they compute 1 - beta^step in float32.)

import { median } from "../clock.mjs";
import { startingCnn, startingMlp } from "../data.mjs";
import { kGpt, kWideGpt, startingGpt, tokenBatches } from "../gpt.mjs";
import { mnistBatches } from "../mnist.mjs";

const adam = { name: "adam", rate: 0.001 };

const mlpSgd = {
  model: "mlp",
  layers: () => startingMlp([784, 128, 10]),
  batches: () => mnistBatches(100, 64),
  optimizer: { name: "sgd", rate: 0.1 },
};

/** The deeper MLP with Adam, which the workload with single images also uses. */
export const kDeepMlp = {
  model: "mlp",
  layers: () => startingMlp([784, 512, 256, 10]),
  batches: () => mnistBatches(100, 64),
  optimizer: adam,
};

const cnn = {
  model: "cnn",
  layers: () => startingCnn({ channels: [8, 16], kernel: 5, padding: 0 }),
  batches: () => mnistBatches(100, 64),
  optimizer: adam,
};

/** The transformer with AdamW. */
export const kGptTask = {
  model: "gpt",
  layers: () => startingGpt(kGpt),
  batches: () => tokenBatches(kGpt, 100, 8),
  optimizer: { name: "adamw", rate: 0.001 },
};

/** Models that are large enough for a GPU to be useful. */
export const kWideMlpTask = {
  ...kDeepMlp,
  layers: () => startingMlp([784, 4096, 4096, 10]),
  batches: () => mnistBatches(20, 64),
};

export const kWideCnnTask = {
  ...cnn,
  layers: () => startingCnn({ channels: [32, 64, 64], kernel: 3, padding: 1 }),
  batches: () => mnistBatches(20, 32),
};

export const kWideGptTask = {
  ...kGptTask,
  layers: () => startingGpt(kWideGpt),
  batches: () => tokenBatches(kWideGpt, 20, 2),
};

export function startTraining(library, { model, layers, batches, optimizer }) {
  return library.trainer({ model, layers: layers(), optimizer }, batches());
}

/** Returns a workload that measures a task in steps/s, or in ms per step. */
function training(name, title, task, { lossAt = 60, target, perStep = false, ...rest }) {
  const row = perStep
    ? { id: "step", unit: "ms", better: "lower", target }
    : { id: "rate", title: "steps/s", better: "higher", target };
  return {
    name,
    title,
    contenders: ["edgegrad", "edgegrad2", "tfjs", "jax", "torch"],
    repeats: 2,
    limit: 40,
    ...rest,
    rows: () => [row, { id: "loss", title: `loss after ${lossAt} steps`, digits: 5 }],
    async measure(library, { quick }, report) {
      const trainer = startTraining(library, task);
      const start = performance.now();
      for (let i = 0; i < lossAt; ++i) trainer.step(i);
      report("loss", await trainer.loss());
      const block = blockFor((performance.now() - start) / lossAt);
      const time = median(await timeBlocks(trainer, lossAt, block, quick ? 0.6 : 1.5));
      report(row.id, perStep ? time : 1000 / time);
    },
  };
}

/** Returns the number of steps between reads of the loss: ten, or fewer if steps are slow. */
function blockFor(stepTime) {
  return Math.max(1, Math.min(10, Math.round(300 / stepTime)));
}

/** Runs blocks of steps, each of which ends with reading the loss; resolves to the ms per step of each block. */
export async function timeBlocks(trainer, from, block, seconds) {
  const times = [];
  const start = performance.now();
  let step = from;
  while (times.length < 3 || performance.now() - start < seconds * 1000) {
    const blockStart = performance.now();
    for (let i = 0; i < block; ++i) trainer.step(step++);
    await trainer.loss();
    times.push((performance.now() - blockStart) / block);
  }
  return times;
}

export const kTrainings = [
  training("mlp-sgd", "MLP 784-128-10, SGD, batch 64", mlpSgd, { target: 0.9, perStep: true }),
  training("mlp-adam", "MLP 784-512-256-10, Adam, batch 64", kDeepMlp, { target: 256 }),
  training("cnn", "CNN 8@5x5, pool, 16@5x5, pool, linear, 28x28, Adam, batch 64", cnn, {
    lossAt: 10,
    target: 350,
    repeats: 1,
  }),
  training("gpt", "Transformer, 2 blocks of width 64, 64 tokens, AdamW, batch 8", kGptTask, {
    lossAt: 20,
    target: 120,
    repeats: 1,
  }),
];
