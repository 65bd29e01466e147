// Training steps on WebGPU: every library in Node.js, on the adapter that npm's `webgpu` finds. The WebGPU calls of a
// step are counted from outside the library (gpu/counter.mjs), in whichever thread its device is.

import { ensurePackages } from "../../../scripts/machine/apt.mjs";
import { median } from "../clock.mjs";
import { countedSoFar, kCounted, kCounterOptions } from "../gpu/counts.mjs";
import {
  kDeepMlp,
  kGptTask,
  kWideCnnTask,
  kWideGptTask,
  kWideMlpTask,
  startTraining,
  timeBlocks,
} from "./training.mjs";

/** The training tasks, by their names in profile.mjs. */
export const kWebgpuTasks = {
  mlp: kDeepMlp,
  "wide-mlp": kWideMlpTask,
  "wide-cnn": kWideCnnTask,
  gpt: kGptTask,
  "wide-gpt": kWideGptTask,
};

/** Properties that all WebGPU workloads share. */
export const kOnWebgpu = {
  contenders: ["edgegradGpu", "tfjsGpu", "jaxGpu"],
  newestNodeOnly: true,
  prepare: () => ensurePackages("browser"),
};

/** The maximum number of steps between reads of the loss, and their approximate duration in ms. */
const kMostSteps = 5;
const kBlockTime = 1500;

const kCountTitles = {
  submits: "submits per step",
  dispatches: "dispatches per step",
  buffers: "buffers created per step",
  bindGroups: "bind groups created per step",
  pipelines: "pipelines created per step",
  readbacks: "readbacks per step, except for the loss",
};

function webgpuTraining(task, title, { lossAt, limit, repeats = 3 }) {
  return {
    ...kOnWebgpu,
    name: `webgpu-${task}`,
    title: `WebGPU: ${title}`,
    repeats,
    limit,
    environment: { NODE_OPTIONS: kCounterOptions },
    rows: () => [
      { id: "step", title: "step", unit: "ms", better: "lower" },
      { id: "first", title: "first step, which compiles", unit: "ms", better: "lower" },
      ...Object.keys(kCounted).map((id) => ({ id, title: kCountTitles[id], digits: 1 })),
      { id: "loss", title: `loss after ${lossAt} steps`, digits: 5 },
    ],
    async measure(library, { quick }, report) {
      const trainer = startTraining(library, kWebgpuTasks[task]);
      let last = 0; // duration of the last step
      for (let i = 0; i < lossAt; ++i) {
        const start = performance.now();
        trainer.step(i);
        await trainer.loss();
        last = performance.now() - start;
        report(i === 0 ? "first" : "step", last); // reported now in case the library runs out of time below
      }
      report("loss", await trainer.loss());
      const block = blockFor(last);
      const before = await countedSoFar();
      const times = await timeBlocks(trainer, lossAt, block, quick ? 2 : 6);
      const after = await countedSoFar();
      report("step", median(times));
      after.readbacks -= times.length;
      const steps = times.length * block;
      for (const id in kCounted) report(id, (after[id] - before[id]) / steps);
    },
    checks: (_rows, results) => [...fasterThanPeers("step", results), ...withoutReadbacks(results)],
  };
}

function blockFor(stepTime) {
  return Math.max(1, Math.min(kMostSteps, Math.round(kBlockTime / stepTime)));
}

/** Checks that ours is faster than every peer that ran. */
export function fasterThanPeers(row, [ours, ...peers]) {
  const limits = peers.map(({ values }) => values[row]).filter((time) => time !== undefined);
  if (ours.values[row] === undefined || limits.length === 0) return [];
  return [{ row, text: "< peers", passed: ours.values[row] < Math.min(...limits) }];
}

/** Checks that our steps never wait for the device. */
function withoutReadbacks([{ values }]) {
  if (values.readbacks === undefined) return [];
  return [{ row: "readbacks", text: "0", passed: values.readbacks === 0 }];
}

export const kWebgpuTrainings = [
  webgpuTraining("mlp", "MLP 784-512-256-10, Adam, batch 64", { lossAt: 20, limit: 120 }),
  webgpuTraining("wide-mlp", "MLP 784-4096-4096-10, Adam, batch 64", {
    lossAt: 2,
    limit: 100,
    repeats: 2,
  }),
  webgpuTraining("wide-cnn", "CNN of 32, 64 and 64 channels, 3x3, Adam, batch 32", {
    lossAt: 4,
    limit: 100,
    repeats: 2,
  }),
  webgpuTraining("gpt", "transformer, 2 blocks of width 64, 64 tokens, AdamW, batch 8", {
    lossAt: 4,
    limit: 300,
  }),
  webgpuTraining("wide-gpt", "transformer, 2 blocks of width 384, 256 tokens, AdamW, batch 2", {
    lossAt: 2,
    limit: 180,
    repeats: 2,
  }),
];
