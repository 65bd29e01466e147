// npm run bench -- webgpu steps: what a training step costs on the WebGPU device, in counts that do not depend on the machine:
// dispatches, submits, bytes in both directions, buffers and pipelines created, and bytes of memory; of eight models, called as
// usual and captured. `node tests/bench/gpu/steps.mjs lstm gpt` counts only these; with `--hardware` a software adapter poses as a
// GPU, for which there are other shaders and captured steps have fewer dispatches: its counts are a GPU's, its times are not.
// peers.mjs counts those that the peers can build.

import { parseArgs } from "node:util";
import * as eg from "edgegrad";
import { findAdapter } from "../card/run.mjs";

const { nn, optim } = eg;
const device = "webgpu";

const conv = (from, to, stride = 1) =>
  new nn.Sequential(
    new nn.Conv2d(from, to, 3, { stride, padding: 1, bias: false }),
    new nn.BatchNorm2d(to),
  );

class BasicBlock extends nn.Module {
  constructor(from, to, stride) {
    super();
    this.first = conv(from, to, stride);
    this.second = conv(to, to);
    this.shortcut =
      stride === 1
        ? new nn.Identity()
        : new nn.Sequential(
            new nn.Conv2d(from, to, 1, { stride, bias: false }),
            new nn.BatchNorm2d(to),
          );
  }
  forward(x) {
    const y = this.second.call(this.first.call(x).relu());
    return y.add(this.shortcut.call(x)).relu();
  }
}

function resnet18(width) {
  const stages = [1, 2, 2, 2].map((stride, i) => {
    const [from, to] = [width << Math.max(0, i - 1), width << i];
    return new nn.Sequential(new BasicBlock(from, to, stride), new BasicBlock(to, to, 1));
  });
  return new nn.Sequential(
    conv(3, width),
    new nn.ReLU(),
    ...stages,
    new nn.AdaptiveAvgPool2d(1),
    new nn.Flatten(),
    new nn.Linear(8 * width, 10),
  );
}

const twice = (from, to) =>
  new nn.Sequential(conv(from, to), new nn.ReLU(), conv(to, to), new nn.ReLU());

class UNet extends nn.Module {
  constructor(width, depth) {
    super();
    const widths = Array.from({ length: depth + 1 }, (_, i) => width << i);
    this.down = new nn.ModuleList(widths.map((to, i) => twice(i ? widths[i - 1] : 3, to)));
    this.up = new nn.ModuleList(
      widths.slice(0, -1).map((to) => new nn.ConvTranspose2d(2 * to, to, 2, { stride: 2 })),
    );
    this.join = new nn.ModuleList(widths.slice(0, -1).map((to) => twice(2 * to, to)));
    this.head = new nn.Conv2d(width, 2, 1);
  }
  forward(x) {
    const kept = [];
    let y = x;
    for (const [i, part] of [...this.down].entries()) {
      y = part.call(i === 0 ? y : eg.maxPool2d(y, 2));
      kept.push(y);
    }
    kept.pop();
    const [ups, joins] = [[...this.up], [...this.join]];
    for (let i = kept.length - 1; i >= 0; i--)
      y = joins[i].call(eg.cat([kept[i], ups[i].call(y)], 1));
    return this.head.call(y);
  }
}

class Block extends nn.Module {
  constructor(width, heads) {
    super();
    this.heads = heads;
    this.norms = new nn.ModuleList([new nn.LayerNorm(width), new nn.LayerNorm(width)]);
    this.qkv = new nn.Linear(width, 3 * width);
    this.out = new nn.Linear(width, width);
    this.mlp = new nn.Sequential(
      new nn.Linear(width, 4 * width),
      new nn.GELU(),
      new nn.Linear(4 * width, width),
    );
  }
  forward(x) {
    const [batch, length, width] = x.shape;
    const [before, after] = [...this.norms];
    const [q, k, v] = this.qkv
      .call(before.call(x))
      .view([batch, length, 3, this.heads, width / this.heads])
      .permute([2, 0, 3, 1, 4])
      .unbind(0);
    const y = eg.scaledDotProductAttention(q, k, v, null, 0, true);
    const mixed = x.add(this.out.call(y.transpose(1, 2).reshape([batch, length, width])));
    return mixed.add(this.mlp.call(after.call(mixed)));
  }
}

class Gpt extends nn.Module {
  constructor({ words, length, width, heads, blocks }) {
    super();
    this.words = new nn.Embedding(words, width);
    this.places = new nn.Embedding(length, width);
    this.blocks = new nn.ModuleList(Array.from({ length: blocks }, () => new Block(width, heads)));
    this.norm = new nn.LayerNorm(width);
    this.head = new nn.Linear(width, words, { bias: false });
  }
  forward(text) {
    let x = this.words.call(text).add(this.places.weight);
    for (const block of this.blocks) x = block.call(x);
    return this.head.call(this.norm.call(x)).flatten(0, 1);
  }
}

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
    make: () =>
      new nn.Sequential(
        ...[new nn.Linear(784, 512), new nn.ReLU(), new nn.Linear(512, 256), new nn.ReLU()],
        new nn.Linear(256, 10),
      ),
    batch: () => [eg.randn([64, 784]), classes(10, [64])],
  },
  cnn: {
    title: "CNN of 8 and 16 channels with batch norm, batch 16",
    make: () =>
      new nn.Sequential(
        ...[conv(1, 8), new nn.ReLU(), new nn.MaxPool2d(2)],
        ...[conv(8, 16), new nn.ReLU(), new nn.MaxPool2d(2)],
        ...[new nn.Flatten(), new nn.Linear(16 * 49, 10)],
      ),
    batch: () => [eg.randn([16, 1, 28, 28]), classes(10, [16])],
  },
  gpt: {
    title: "GPT, 2 blocks of width 64, 64 tokens, batch 8",
    make: () => new Gpt({ words: 65, length: 64, width: 64, heads: 4, blocks: 2 }),
    batch: () => [classes(65, [8, 64]), classes(65, [512])],
  },
  lstm: recurrent("LSTM"),
  gru: recurrent("GRU"),
  rnn: recurrent("RNN"),
  resnet18: {
    title: "ResNet18 of width 8, 32 x 32, batch 2",
    make: () => resnet18(8),
    batch: () => [eg.randn([2, 3, 32, 32]), classes(10, [2])],
  },
  unet: {
    title: "U-Net of width 8 and depth 2, 32 x 32, batch 2",
    make: () => new UNet(8, 2),
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
