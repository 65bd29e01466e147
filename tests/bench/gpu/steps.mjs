// npm run bench -- webgpu steps: what a training step costs on the WebGPU device, in counts that do not depend on the machine:
// dispatches, submits, bytes in both directions, buffers and pipelines created, and bytes of memory; of eight models, called as
// usual and captured. `node tests/bench/gpu/steps.mjs lstm gpt` counts only these; with `--hardware` a software adapter poses as a
// GPU, for which there are other shaders and captured steps have fewer dispatches: its counts are a GPU's, its times are not.
// peers.mjs counts those that the peers can build.

import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { findAdapter } from "../card/run.mjs";
import { startingMlp } from "../data.mjs";
import { kGpt, startingGpt } from "../gpt.mjs";
import { kModels as kMade } from "../models/edgegrad.mjs";
import { block, resnet18, UNet } from "../models/networks.mjs";

const { nn, optim } = eg;
const device = "webgpu";

class Sequences extends nn.Module {
  constructor(kind) {
    super();
    this.steps = new nn[kind](32, 64);
    this.head = new nn.Linear(64, 10);
  }
  forward(x) {
    const [y] = this.steps.call(x);
    return this.head.call(y.select(0, -1));
  }
}

const recurrent = (kind) => ({
  title: `${kind} of width 64, 32 steps, batch 16`,
  make: () => new Sequences(kind),
  batch: () => [eg.randn([32, 16, 32]), classes(10, [16])],
});

const classes = (count, shape) => eg.randint(0, count, shape);

/** The models with the shapes of a batch. */
export const kModels = {
  mlp: {
    title: "MLP 784-512-256-10, Adam, batch 64",
    make: () => kMade.mlp.start(startingMlp([784, 512, 256, 10])),
    batch: () => [eg.randn([64, 784]), classes(10, [64])],
  },
  cnn: {
    title: "CNN of 8 and 16 channels with batch norm, batch 16",
    make: () =>
      new nn.Sequential(
        ...[block(1, 8, 3, { activation: nn.ReLU }), new nn.MaxPool2d(2)],
        ...[block(8, 16, 3, { activation: nn.ReLU }), new nn.MaxPool2d(2)],
        ...[new nn.Flatten(), new nn.Linear(16 * 49, 10)],
      ),
    batch: () => [eg.randn([16, 1, 28, 28]), classes(10, [16])],
  },
  gpt: {
    title: "GPT, 2 blocks of width 64, 64 tokens, batch 8",
    make: () => kMade.gpt.start(startingGpt(kGpt)),
    batch: () => [classes(65, [8, 64]), classes(65, [512])],
  },
  lstm: recurrent("LSTM"),
  gru: recurrent("GRU"),
  rnn: recurrent("RNN"),
  resnet18: {
    title: "ResNet18 of width 8, 32 x 32, batch 2",
    make: () => resnet18([block(3, 8, 3, { activation: nn.ReLU })], 8, 10),
    batch: () => [eg.randn([2, 3, 32, 32]), classes(10, [2])],
  },
  unet: {
    title: "U-Net of width 8 and depth 2, 32 x 32, batch 2",
    make: () => new UNet([8, 16, 32]),
    batch: () => [eg.randn([2, 3, 32, 32]), classes(2, [2, 32, 32])],
  },
};

/** Returns the counts of a step that is warm, and its time in ms. */
export async function countStep({ make, batch }, isCaptured) {
  const model = make().to(device);
  const optimizer = new optim.Adam(model.parameters(), { lr: 1e-3 });
  const given = batch();
  const step = (x, y) => {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const captured = isCaptured ? eg.capture(step, ...given.map((one) => one.to(device))) : undefined;
  const run = async () => {
    const before = eg.webgpuStats();
    const start = performance.now();
    const loss = eg.scope(() => (captured ?? step)(...given.map((one) => one.to(device))));
    await loss.itemAsync();
    loss.dispose();
    const ms = performance.now() - start;
    const counts = Object.entries(eg.webgpuStats()).map(([name, n]) => [name, n - before[name]]);
    return { ...Object.fromEntries(counts), ms };
  };
  for (let i = 0; i < 4; i++) await run();
  // A slow process may play part of a step before the rest has been recorded.
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await run());
  captured?.dispose();
  const least = (name) => Math.min(...runs.map((one) => one[name]));
  return Object.fromEntries(Object.keys(runs[0]).map((name) => [name, least(name)]));
}

const kColumns = {
  dispatches: "dispatches",
  submits: "submits",
  bytesWritten: "bytes up",
  bytesRead: "bytes down",
  buffersCreated: "buffers",
  pipelines: "pipelines",
  ms: "ms",
};

async function main(names, isHardware) {
  await findAdapter();
  const posing = isHardware
    ? { gpu: (await import("../../webgpu/support/own_gpu.mjs")).gpuAsHardware }
    : {};
  await eg.init({ webgpu: "required", ...posing });
  console.log(`${eg.runtime().webgpu.description}, Node ${process.versions.node}; per step\n`);
  const row = (cells) => console.log(`| ${cells.join(" | ")} |`);
  row(["model", "", ...Object.values(kColumns)]);
  row(["---", "---", ...Object.keys(kColumns).map(() => "---:")]);
  for (const [name, model] of Object.entries(kModels)) {
    if (names.length > 0 && !names.includes(name)) continue;
    for (const isCaptured of [false, true]) {
      const counts = await countStep(model, isCaptured);
      const cells = Object.keys(kColumns).map((id) =>
        counts[id] === undefined ? "" : Math.round(counts[id]).toLocaleString("en"),
      );
      row([isCaptured ? "" : model.title, isCaptured ? "captured" : "eager", ...cells]);
    }
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { positionals, values } = parseArgs({
    options: { hardware: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  await main(positionals, values.hardware);
}
