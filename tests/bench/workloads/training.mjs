// Training steps with the same data, starting weights and optimizer in every library, which the loss after some steps
// confirms. (With Adam our loss equals that of a float64 computation; those of the peers differ in the third digit,
// because they compute 1 - beta^step in float32.) On WebGPU every library runs in Node.js, on the adapter that npm's `webgpu` finds.

import { ensurePackages } from "../../../scripts/machine/apt.mjs";
import { median } from "../clock.mjs";
import { startingCnn, startingMlp } from "../data.mjs";
import { kGpt, kWideGpt, startingGpt, tokenBatches } from "../gpt.mjs";
import { mnistBatches } from "../mnist.mjs";

const kAdam = { name: "adam", rate: 0.001 };
const kAdamW = { name: "adamw", rate: 0.001 };

const mlp = (widths, optimizer = kAdam, batches = 100) => ({
  model: "mlp",
  layers: () => startingMlp(widths),
  batches: () => mnistBatches(batches, 64),
  optimizer,
});

const cnn = (shape, batches, size) => ({
  model: "cnn",
  layers: () => startingCnn(shape),
  batches: () => mnistBatches(batches, size),
  optimizer: kAdam,
});

const gpt = (shape, batches, size) => ({
  model: "gpt",
  layers: () => startingGpt(shape),
  batches: () => tokenBatches(shape, batches, size),
  optimizer: kAdamW,
});

/** The deeper MLP with Adam, which the workload with single images also uses. */
export const kDeepMlp = mlp([784, 512, 256, 10]);

const kGptTask = gpt(kGpt, 100, 8);

export function startTraining(library, { model, layers, batches, optimizer }) {
  return library.training({ model, layers: layers(), optimizer }, batches());
}

/** What all workloads on the WebGPU device have. */
const kOnWebgpu = {
  contenders: ["edgegradGpu", "tfjsGpu", "jaxGpu"],
  newestNodeOnly: true,
  prepare: () => ensurePackages("browser"),
};

const kBlock = 10; // steps between reads of the loss
const kBlockTime = 1500; // ms, if steps are slow

/** Returns a workload that measures a task in steps/s, or in ms per step. */
function training(name, title, task, { lossAt = 60, target, perStep = false, ...rest }) {
  const row = perStep
    ? { id: "step", title: "step", unit: "ms", better: "lower", target }
    : { id: "rate", title: "steps/s", better: "higher", target };
  return {
    name,
    title,
    contenders: ["edgegrad", "edgegrad2", "tfjs", "jax"],
    repeats: 2,
    limit: 40,
    ...rest,
    rows: () => [
      row,
      { id: "first", title: "first step, which compiles", unit: "ms", better: "lower" },
      { id: "loss", title: `loss after ${lossAt} steps`, digits: 5 },
    ],
    async measure(library, { quick }, report) {
      const trainer = startTraining(library, task);
      const [first] = await timeBlocks(trainer, { block: 1, least: 1 });
      report("first", first);
      const [last] = await timeBlocks(trainer, { from: 1, block: lossAt - 1, least: 1 });
      report("loss", await trainer.loss());
      const show = (time) => report(row.id, perStep ? time : 1000 / time);
      show(last); // in case the library runs out of time below
      const block = Math.max(1, Math.min(kBlock, Math.round(kBlockTime / last)));
      show(median(await timeBlocks(trainer, { from: lossAt, block, seconds: quick ? 0.6 : 1.5 })));
    },
    checks: (_rows, results) => (rest.newestNodeOnly ? fasterThanPeers(row.id, results) : []),
  };
}

/** Runs blocks of steps, each of which ends with reading the loss; resolves to the ms per step of each block. */
async function timeBlocks(trainer, { from = 0, block, least = 3, seconds = 0 }) {
  const times = [];
  const start = performance.now();
  let step = from;
  while (times.length < least || performance.now() - start < seconds * 1000) {
    const blockStart = performance.now();
    for (let i = 0; i < block; ++i) trainer.step(step++);
    await trainer.loss();
    times.push((performance.now() - blockStart) / block);
  }
  return times;
}

/** Checks that ours is faster than every peer that ran. */
function fasterThanPeers(row, [ours, ...peers]) {
  const limits = peers.map(({ values }) => values[row]).filter((time) => time !== undefined);
  if (ours.values[row] === undefined || limits.length === 0) return [];
  return [{ row, text: "< peers", passed: ours.values[row] < Math.min(...limits) }];
}

const onWebgpu = (name, title, task, lossAt, limit) =>
  training(`webgpu-${name}`, `WebGPU: ${title}`, task, {
    ...kOnWebgpu,
    ...{ lossAt, limit, perStep: true },
  });

const kSides = [1024, 2048];

/** Square products: a number of products in sequence, then the last one is awaited. */
const webgpuMatmul = {
  ...kOnWebgpu,
  name: "webgpu-matmul",
  title: "WebGPU: square product, float32",
  repeats: 2,
  limit: 100,
  rows: () => kSides.map((n) => ({ id: String(n), unit: "ms", better: "lower" })),
  async measure({ product, repeat }, { quick }, report) {
    for (const n of kSides) {
      const { op, end } = product({ m: n, n, k: n });
      await repeat(op, 1); // compiles
      const count = Math.ceil(2 ** 31 / n ** 3);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < (quick ? 2 : 4); ++round) {
        const start = performance.now();
        await repeat(op, count);
        best = Math.min(best, (performance.now() - start) / count);
      }
      end();
      report(String(n), best);
    }
  },
  checks: (rows, results) => rows.flatMap(({ id }) => fasterThanPeers(id, results)),
};

export const kTrainings = [
  training(
    "mlp-sgd",
    "MLP 784-128-10, SGD, batch 64",
    mlp([784, 128, 10], { name: "sgd", rate: 0.1 }),
    { target: 0.9, perStep: true },
  ),
  training("mlp-adam", "MLP 784-512-256-10, Adam, batch 64", kDeepMlp, { target: 256 }),
  training(
    "cnn",
    "CNN 8@5x5, pool, 16@5x5, pool, linear, 28x28, Adam, batch 64",
    cnn({ channels: [8, 16], kernel: 5, padding: 0 }, 100, 64),
    { lossAt: 10, target: 350, repeats: 1 },
  ),
  training("gpt", "Transformer, 2 blocks of width 64, 64 tokens, AdamW, batch 8", kGptTask, {
    lossAt: 20,
    target: 120,
    repeats: 1,
  }),
  onWebgpu("mlp", "MLP 784-512-256-10, Adam, batch 64", kDeepMlp, 20, 120),
  onWebgpu(
    "wide-mlp",
    "MLP 784-4096-4096-10, Adam, batch 64",
    mlp([784, 4096, 4096, 10], kAdam, 20),
    ...[2, 100],
  ),
  onWebgpu(
    "wide-cnn",
    "CNN of 32, 64 and 64 channels, 3x3, Adam, batch 32",
    cnn({ channels: [32, 64, 64], kernel: 3, padding: 1 }, 20, 32),
    ...[4, 100],
  ),
  onWebgpu(
    "gpt",
    "transformer, 2 blocks of width 64, 64 tokens, AdamW, batch 8",
    ...[kGptTask, 4, 300],
  ),
  onWebgpu(
    "wide-gpt",
    "transformer, 2 blocks of width 384, 256 tokens, AdamW, batch 2",
    ...[gpt(kWideGpt, 20, 2), 2, 180],
  ),
  webgpuMatmul,
];
