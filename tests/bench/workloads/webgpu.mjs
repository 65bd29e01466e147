// Training steps on WebGPU: every library in Node, on the adapter that npm's `webgpu` finds. What a step asks of the
// device is counted from outside (gpu/counter.mjs), in whatever thread a library has its device.

import { ensurePackages } from "../../../scripts/apt.mjs";
import { median } from "../clock.mjs";
import { countedSoFar, kCounted, kCounterOptions } from "../gpu/counts.mjs";
import { kDeepMlp, kGptTask, startTraining, timeBlocks } from "./training.mjs";

/** The most steps between two looks at the loss, and about how long these take in ms. */
const kMostSteps = 5;
const kBlockTime = 1500;

const kCountTitles = {
  submits: "submits per step",
  dispatches: "dispatches per step",
  buffers: "buffers created per step",
  bindGroups: "bind groups created per step",
  pipelines: "pipelines created per step",
};

function webgpuTraining(name, title, task, { lossAt, limit }) {
  return {
    name,
    title,
    contenders: ["edgegradGpu", "tfjsGpu", "jaxGpu"],
    repeats: 3,
    limit,
    newestNodeOnly: true,
    environment: { NODE_OPTIONS: kCounterOptions },
    prepare: () => ensurePackages("browser"),
    rows: () => [
      { id: "step", title: "step", unit: "ms", better: "lower" },
      ...Object.keys(kCounted).map((id) => ({ id, title: kCountTitles[id], digits: 1 })),
      { id: "loss", title: `loss after ${lossAt} steps`, digits: 5 },
    ],
    async measure(library, { quick }, report) {
      const trainer = startTraining(library, task);
      let last = 0; // when the last step began: the first one compiles
      for (let i = 0; i < lossAt; ++i) {
        last = performance.now();
        trainer.step(i);
        if (i + 2 >= lossAt) await trainer.loss();
      }
      const block = blockFor(performance.now() - last);
      report("loss", await trainer.loss());
      const before = await countedSoFar();
      const times = await timeBlocks(trainer, lossAt, block, quick ? 2 : 6);
      const after = await countedSoFar();
      report("step", median(times));
      const steps = times.length * block;
      for (const id in after) report(id, (after[id] - before[id]) / steps);
    },
    checks: fasterThanPeers,
  };
}

function blockFor(stepTime) {
  return Math.max(1, Math.min(kMostSteps, Math.round(kBlockTime / stepTime)));
}

/** Ours has to be faster than every peer that ran. */
function fasterThanPeers(_rows, [ours, ...peers]) {
  const limits = peers.map(({ values }) => values.step).filter((step) => step !== undefined);
  if (ours.values.step === undefined || limits.length === 0) return [];
  return [{ row: "step", text: "< peers", passed: ours.values.step < Math.min(...limits) }];
}

export const kWebgpuTrainings = [
  webgpuTraining("webgpu-mlp", "WebGPU: MLP 784-512-256-10, Adam, batch 64", kDeepMlp, {
    lossAt: 20,
    limit: 120,
  }),
  webgpuTraining(
    "webgpu-gpt",
    "WebGPU: transformer, 2 blocks of width 64, 64 tokens, AdamW, batch 8",
    kGptTask,
    { lossAt: 4, limit: 300 },
  ),
];
