// Captured functions on the device: they train like the original step, and replaying them allocates nothing.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertRejects, assertThrows } from "../../js/support/assert.mjs";
import { collectGarbage } from "../../js/support/collect_garbage.mjs";
import { eg, onGpu, options, warningsOf } from "../support/engine.mjs";

const { nn, optim } = eg;
const kSteps = 10;

const makeMlp = () => new nn.Sequential(new nn.Linear(6, 8), new nn.Tanh(), new nn.Linear(8, 3));

const makeCnn = () =>
  new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1 }),
    new nn.BatchNorm2d(4),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    new nn.Linear(64, 3),
  );

class SmallGpt extends nn.Module {
  constructor() {
    super();
    this.tokens = new nn.Embedding(11, 16);
    this.layer = new nn.TransformerEncoderLayer(16, 2, {
      dimFeedforward: 32,
      dropout: 0,
      batchFirst: true,
    });
    this.head = new nn.Linear(16, 11);
  }

  forward(tokens) {
    return this.head.call(this.layer.call(this.tokens.call(tokens))).reshape(-1, 11);
  }
}

const images = () => [eg.randn([4, 1, 8, 8]).to("webgpu"), eg.randint(0, 3, [4]).to("webgpu")];
const rows = () => [eg.randn([5, 6]).to("webgpu"), eg.randint(0, 3, [5]).to("webgpu")];
const tokens = () => [eg.randint(0, 11, [3, 5]).to("webgpu"), eg.randint(0, 11, [15]).to("webgpu")];

function stepOf(model, optimizer, isClipped) {
  return (x, y) => {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(model.call(x), y);
    loss.backward();
    if (isClipped) nn.utils.clipGradNorm_(model.parameters(), 0.5);
    optimizer.step();
    return loss;
  };
}

const cases = {
  "MLP with Adam": {
    make: makeMlp,
    batch: rows,
    optimizer: (p) => new optim.Adam(p, { lr: 0.05 }),
  },
  "MLP with momentum, clipped": {
    make: makeMlp,
    batch: rows,
    optimizer: (p) => new optim.SGD(p, { lr: 0.05, momentum: 0.9 }),
    isClipped: true,
  },
  CNN: { make: makeCnn, batch: images, optimizer: (p) => new optim.SGD(p, { lr: 0.05 }) },
  GPT: { make: () => new SmallGpt(), batch: tokens, optimizer: (p) => new optim.AdamW(p) },
};

describe("a captured step on the device", options, () => {
  for (const [name, { make, batch, optimizer, isClipped }] of Object.entries(cases)) {
    test(`trains as the step itself: ${name}`, async () => {
      const models = [make(), make()];
      models[1].loadStateDict(models[0].stateDict());
      const [eager, played] = models.map((model) => {
        model.to("webgpu");
        return stepOf(model, optimizer(model.parameters()), isClipped);
      });
      const batches = Array.from({ length: kSteps }, batch);
      let captured;
      const losses = { eager: [], played: [] };
      const warnings = await warningsOf(() => {
        captured = eg.capture(played, ...batches[0]);
        for (let i = 0; i < 2; i++) eg.scope(() => void eager(...batches[0]));
        for (const one of batches) {
          losses.eager.push(eg.scope(() => eager(...one).detach()));
          losses.played.push(captured(...one));
        }
      });
      assert.deepEqual(warnings, []);
      const [expected, found] = await Promise.all(
        [losses.eager, losses.played].map((list) => eg.stack(list).data()),
      );
      assert.deepEqual([...found], [...expected]);
      const parameters = models.map((model) => model.parameters());
      for (const [i, parameter] of parameters[1].entries())
        assertClose(await parameter.data(), await parameters[0][i].data(), { rtol: 0, atol: 0 });
      captured.dispose();
    });
  }

  test("plays without making anything, in one submit", async () => {
    const model = makeMlp().to("webgpu");
    const [x, y] = rows();
    const step = stepOf(model, new optim.SGD(model.parameters(), { lr: 0.1 }));
    const eager = async () => {
      const before = eg.webgpuStats();
      const loss = eg.scope(() => step(x, y).detach());
      await loss.itemAsync();
      loss.dispose();
      return differences(eg.webgpuStats(), before);
    };
    for (let i = 0; i < 3; i++) await eager();
    const usual = await eager();
    const captured = eg.capture(step, x, y);
    const play = async () => {
      const before = eg.webgpuStats();
      const loss = captured(x, y);
      await loss.itemAsync();
      loss.dispose();
      return differences(eg.webgpuStats(), before);
    };
    for (let i = 0; i < 3; i++) await play();
    const { dispatches, bytesWritten, bytesRead, ...stats } = await play();
    assert.deepEqual(stats, {
      submits: 1,
      pipelines: 0,
      bindGroups: 0,
      buffersCreated: 0,
      readbacks: 1,
    });
    assert.deepEqual([bytesWritten, bytesRead], [0, 4]);
    // Three more dispatches: the inputs are copied in, and the result is copied out.
    assert.ok(dispatches <= usual.dispatches + 3, `${dispatches} for ${usual.dispatches}`);
    captured.dispose();
  });

  test("memory is flat, and what it was after dispose()", async () => {
    // What other tests have left must not be collected while the memory is counted.
    await collectGarbage();
    const model = makeMlp().to("webgpu");
    const optimizer = new optim.Adam(model.parameters());
    const step = stepOf(model, optimizer);
    const [x, y] = rows();
    eg.scope(() => void step(x, y));
    optimizer.zeroGrad();
    await x.data();
    const before = eg.memory();
    const captured = eg.capture(step, x, y);
    const play = () => captured(x, y).dispose();
    play();
    const during = eg.memory();
    for (let i = 0; i < 200; i++) play();
    await x.data();
    assert.equal(eg.memory().gpuBytes, during.gpuBytes);
    assert.equal(eg.memory().jsHandles, during.jsHandles);
    captured.dispose();
    optimizer.zeroGrad();
    assert.equal(eg.memory().gpuBytes, before.gpuBytes);
    assert.equal(eg.memory().jsHandles, before.jsHandles);
  });

  test("memory that it uses stays when everybody else has let go", async () => {
    const outside = onGpu([2, 2, 2]);
    const captured = eg.capture((a) => a.mul(outside), onGpu([1, 1, 1]));
    outside.dispose();
    const others = Array.from({ length: 20 }, () => eg.full([3], 9, { device: "webgpu" }));
    assert.deepEqual([...(await captured(onGpu([3, 4, 5])).data())], [6, 8, 10]);
    for (const other of others) assert.deepEqual([...(await other.data())], [9, 9, 9]);
    captured.dispose();
  });

  test("constants, and numbers of the host", async () => {
    const captured = eg.capture(
      (a) => {
        const counted = eg.zeros([2], { device: "webgpu" });
        counted.add_(a);
        return counted.mul(onGpu([10, 20])).add(3);
      },
      onGpu([0, 0]),
    );
    for (const k of [1, 2, 3])
      assert.deepEqual([...(await captured(onGpu([k, k])).data())], [10 * k + 3, 20 * k + 3]);
    captured.dispose();
  });

  test("an index out of range fails the next read, and no other", async () => {
    const table = onGpu([
      [1, 2],
      [3, 4],
    ]);
    const captured = eg.capture((i) => eg.embedding(i, table), onGpu([0n, 1n]));
    await assertRejects(captured(onGpu([0n, 2n])).data(), "IndexOutOfRange", /2/);
    assert.deepEqual([...(await captured(onGpu([1n, 0n])).data())], [3, 4, 1, 2]);
    captured.dispose();
  });

  test("reading and moving values is refused", async () => {
    const x = onGpu([1, 2]);
    const host = eg.tensor([1, 2]);
    const refused = (fn, ...inputs) =>
      assertThrows(() => eg.capture(fn, ...inputs), "InvalidArgument", /captured function cannot/);
    refused((a) => eg.tensor(a.sum().item()), x);
    refused((a) => a.to("cpu"), x);
    refused((a) => a.to("webgpu"), host);
    refused((a) => eg.maskedSelect(a, a.gt(1)), x);
    const reads = [];
    eg.capture((a) => void reads.push(a.mul(2).data()), x).dispose();
    const [, recorded] = await Promise.allSettled(reads);
    assert.equal(recorded.reason?.code, "InvalidArgument");
    assertThrows(() => eg.capture((a) => a.add(1), x)(host), "DeviceMismatch", /webgpu/);
    assert.deepEqual([...(await x.add(1).data())], [2, 3]);
  });
});

function differences(after, before) {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name]]),
  );
}
