// Models train on the device as they do on the CPU.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../../js/support/assert.mjs";
import { collectGarbage } from "../../js/support/collect_garbage.mjs";
import { eg, onBoth, options, warningsOf } from "../support/engine.mjs";

const { nn, optim } = eg;
const kSteps = 10;
// Sums in different orders differ by about 1e-7 of their terms; this accumulates over ten steps.
const kTolerance = { rtol: 1e-4, atol: 1e-5 };

const kOptimizers = {
  SGD: (params) => new optim.SGD(params, { lr: 0.1 }),
  "SGD with momentum": (params) =>
    new optim.SGD(params, { lr: 0.05, momentum: 0.9, dampening: 0.1, weightDecay: 0.01 }),
  "SGD with Nesterov's momentum": (params) =>
    new optim.SGD(params, { lr: 0.05, momentum: 0.9, nesterov: true }),
  Adam: (params) => new optim.Adam(params, { lr: 0.01, weightDecay: 0.01 }),
  "Adam with amsgrad": (params) => new optim.Adam(params, { lr: 0.01, amsgrad: true }),
  AdamW: (params) => new optim.AdamW(params, { lr: 0.01 }),
  RMSprop: (params) => new optim.RMSprop(params, { lr: 0.01, momentum: 0.5 }),
  "centered RMSprop": (params) => new optim.RMSprop(params, { lr: 0.01, centered: true }),
  Adagrad: (params) => new optim.Adagrad(params, { lr: 0.05, lrDecay: 0.01 }),
};

function makeMlp() {
  return new nn.Sequential(new nn.Linear(12, 16), new nn.ReLU(), new nn.Linear(16, 5));
}

/** Returns the losses of some steps on a device; they are read together as one tensor. */
function train(model, inputs, targets, makeOptimizer, device) {
  model.to(device);
  const [x, classes] = [inputs.to(device), targets.to(device)];
  const optimizer = makeOptimizer(model.parameters());
  const losses = [];
  for (let step = 0; step < kSteps; step++) {
    const loss = eg.scope(() => {
      optimizer.zeroGrad();
      const scores = model.call(x);
      const found = eg.crossEntropy(scores.reshape(-1, scores.shape.at(-1)), classes);
      found.backward();
      optimizer.step();
      return found.detach();
    });
    assert.equal(loss.device, device);
    losses.push(loss);
  }
  return eg.stack(losses).data();
}

async function assertLearnsAlike(makeModel, makeInputs, makeOptimizer) {
  const { cpu, gpu } = await onBoth((device) => {
    const [inputs, targets] = makeInputs();
    return train(makeModel(), inputs, targets, makeOptimizer, device);
  });
  assertClose(gpu, cpu, kTolerance);
  assert.ok(cpu.at(-1) < cpu[0], `${cpu.at(-1)} after ${cpu[0]}`);
}

describe("a network learns as on the CPU with", options, () => {
  const makeInputs = () => [eg.randn([8, 12]), eg.randint(0, 5, [8])];
  for (const [name, makeOptimizer] of Object.entries(kOptimizers)) {
    test(name, () => assertLearnsAlike(makeMlp, makeInputs, makeOptimizer));
  }

  test("a rate that a scheduler changes, and clipped gradients", async () => {
    const makeOptimizer = (params) => {
      const optimizer = new optim.SGD(params, { lr: 0.5 });
      const schedule = new optim.lrScheduler.StepLR(optimizer, { stepSize: 3, gamma: 0.5 });
      const zeroGrad = () => optimizer.zeroGrad();
      const step = () => {
        nn.utils.clipGradNorm_(params, 0.5);
        optimizer.step();
        schedule.step();
      };
      return { zeroGrad, step };
    };
    await assertLearnsAlike(makeMlp, makeInputs, makeOptimizer);
  });
});

/** A small GPT. */
class Gpt extends nn.Module {
  constructor(words, length, width) {
    super();
    this.words = new nn.Embedding(words, width);
    this.places = new nn.Embedding(length, width);
    this.block = new nn.TransformerEncoderLayer(width, 2, {
      dimFeedforward: 2 * width,
      dropout: 0,
      activation: "gelu",
      batchFirst: true,
      normFirst: true,
    });
    this.norm = new nn.LayerNorm(width);
    this.head = new nn.Linear(width, words, { bias: false });
    this.head.weight = this.words.weight;
  }
  forward(text) {
    const [, length] = text.shape;
    const { device } = text;
    const places = eg.arange(0, length, 1, { device });
    const x = this.words.call(text).add(this.places.call(places));
    const mask = eg.full([length, length], -Infinity, { device }).triu(1);
    return this.head.call(this.norm.call(this.block.call(x, { srcMask: mask, isCausal: true })));
  }
}

const adam = (params) => new optim.Adam(params, { lr: 0.01 });

describe("a model of text learns as on the CPU", options, () => {
  test("with attention, layer norms and shared embeddings", async () => {
    const makeInputs = () => [eg.randint(0, 11, [4, 6]), eg.randint(0, 11, [24])];
    await assertLearnsAlike(() => new Gpt(11, 6, 16), makeInputs, adam);
  });
});

describe("a model of images learns as on the CPU", options, () => {
  const makeModel = () =>
    new nn.Sequential(
      new nn.Conv2d(1, 4, 3, { padding: 1 }),
      new nn.BatchNorm2d(4),
      new nn.ReLU(),
      new nn.MaxPool2d(2),
      new nn.Conv2d(4, 6, 3, { stride: 2 }),
      new nn.GELU(),
      new nn.AdaptiveAvgPool2d(1),
      new nn.Flatten(),
      new nn.Linear(6, 3),
    );
  const makeInputs = () => [eg.randn([4, 1, 10, 10]), eg.randint(0, 3, [4])];

  test("with convolutions, batch norms and pools, on the GPU alone", async () => {
    const warnings = await warningsOf(() => assertLearnsAlike(makeModel, makeInputs, adam));
    assert.deepEqual(warnings, []);
  });
});

describe("what the device has no kernel for", options, () => {
  test("is computed by the CPU, with one warning a kernel", async () => {
    const matrix = eg.tensor([
      [2, 0],
      [0, 3],
    ]);
    const on = matrix.to("webgpu");
    let found;
    const warnings = await warningsOf(() => {
      const sum = () => eg.linalg.eigvalsh(on).sum().item();
      found = eg.scope(() => [sum(), sum()]);
    });
    assert.deepEqual(found, [5, 5]);
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0], /webgpu.*no kernel 'eigh'/);
  });
});

describe("a step of training, once it is warm,", options, () => {
  test("is one submit of at most 24 dispatches, and creates nothing", async () => {
    // What the tests before left behind would free its buffers in the middle, and other ones would be taken.
    await collectGarbage();
    const model = new nn.Sequential(
      new nn.Linear(784, 512),
      new nn.ReLU(),
      new nn.Linear(512, 256),
      new nn.ReLU(),
      new nn.Linear(256, 10),
    ).to("webgpu");
    const x = eg.randn([8, 784], { device: "webgpu" });
    const classes = eg.randint(0, 10, [8], { device: "webgpu" });
    const optimizer = adam(model.parameters());
    const total = eg.zeros([], { device: "webgpu" });
    const step = () =>
      eg.scope(() => {
        optimizer.zeroGrad();
        const loss = eg.crossEntropy(model.call(x), classes);
        loss.backward();
        optimizer.step();
        total.add_(loss.detach());
      });
    // Waiting for a value plays what was recorded.
    const played = async () => {
      await total.itemAsync();
      return eg.webgpuStats();
    };
    for (let i = 0; i < 3; i++) {
      step();
      await played();
    }
    const submitsOf = [];
    for (let i = 0; i < 5; i++) {
      const before = await played();
      step();
      const after = await played();
      const { submits, dispatches, ...created } = Object.fromEntries(
        Object.entries(after).map(([name, count]) => [name, count - before[name]]),
      );
      submitsOf.push(submits);
      // The test itself adds one dispatch, for the sum of the losses, and the read.
      assert.ok(dispatches - 1 <= 24, `${dispatches - 1} dispatches`);
      const { bytesWritten, bytesRead, ...made } = created;
      assert.deepEqual(made, { pipelines: 0, bindGroups: 0, buffersCreated: 0, readbacks: 1 });
      assert.deepEqual([bytesWritten, bytesRead], [0, 4]);
    }
    // A slow process may have played part of a step before the rest was recorded, so only the minimum is checked.
    assert.equal(Math.min(...submitsOf), 1);
  });
});
