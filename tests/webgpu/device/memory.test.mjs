// The device's memory: constant during training, released, and reused.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { collectGarbage, untilCollected } from "../../js/support/collect_garbage.mjs";
import { eg, onGpu, options } from "../support/engine.mjs";

const gpuBytes = () => eg.memory().gpuBytes;
const nextTask = () => new Promise((resolve) => setImmediate(resolve));
/** Resolves when no more is held than was; backward() returns before the device's thread has released what it held last. */
function untilHeld(before, ...names) {
  const shown = (memory) => names.map((name) => `${name} ${memory[name]}`).join();
  return untilCollected(
    () => `${shown(before)} again; it is ${shown(eg.memory())}`,
    () => names.every((name) => eg.memory()[name] <= before[name]),
  );
}
const zeros = (count) => eg.zeros([count], { device: "webgpu" });

describe("memory of the device", options, () => {
  test("is counted, and given back by dispose() with the last handle", () => {
    const before = eg.memory();
    const x = zeros(10_000);
    const held = gpuBytes() - before.gpuBytes;
    // Sizes are rounded up, but not by much.
    assert.ok(held >= 40_000 && held <= 80_000, `${held}`);
    const view = x.reshape(100, 100);
    x.dispose();
    assert.equal(gpuBytes() - before.gpuBytes, held);
    view.dispose();
    assert.equal(gpuBytes(), before.gpuBytes);
    const { gpuPeakBytes, cpuBytes } = eg.memory();
    assert.ok(gpuPeakBytes >= before.gpuBytes + held);
    assert.equal(cpuBytes, before.cpuBytes);
    assertThrows(() => x.add(1), "Disposed");
  });

  test("is given back by `using` and by scopes, also async ones", async () => {
    await collectGarbage();
    const before = eg.memory();
    zeros(1000)[Symbol.dispose]();
    eg.scope(() => zeros(1000).add(1).mul(2));
    await eg.scope(async () => {
      const x = zeros(1000).add(1);
      await x.data();
      x.mul(2);
      await nextTask();
    });
    const kept = eg.scope(() => zeros(1000).add(3));
    assertTensor(kept.at(0), [3]);
    kept.dispose();
    await untilHeld(before, "gpuBytes");
  });

  test("is given back by the garbage collector", async () => {
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 50; i++) zeros(1000).add(1);
    assert.ok(gpuBytes() > before.gpuBytes);
    await untilHeld(before, "gpuBytes");
  });

  test("is reused: the same again makes no new buffers", async () => {
    const once = () => eg.scope(() => zeros(5000).add(1).square().sum().itemAsync());
    for (let i = 0; i < 5; i++) await once();
    const { buffersCreated } = eg.webgpuStats();
    const { gpuBuffers } = eg.memory();
    for (let i = 0; i < 50; i++) assert.equal(await once(), 5000);
    // One or two for uploads: whether a write has to wait depends on timing.
    assert.ok(eg.webgpuStats().buffersCreated <= buffersCreated + 2);
    assert.ok(eg.memory().gpuBuffers <= gpuBuffers + 2);
  });

  test("is not reused before pending work on it is done", async () => {
    const reads = [];
    for (let i = 0; i < 100; i++) {
      eg.scope(() => {
        const x = eg.full([300], i, { device: "webgpu" }).add(1);
        reads.push(x.data());
      });
    }
    const found = await Promise.all(reads);
    for (const [i, values] of found.entries()) {
      assert.ok(
        values.every((value) => value === i + 1),
        `${i}: ${values[0]}`,
      );
    }
  });

  test("of a failed backward is given back", async () => {
    const x = onGpu([1, 2, 3], { requiresGrad: true });
    const fail = () =>
      eg.scope(() => {
        const y = x.exp().mul(2);
        y.registerHook(() => {
          throw new RangeError("no");
        });
        assert.throws(() => y.square().sum().backward(), RangeError);
      });
    fail();
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 20; i++) fail();
    await untilHeld(before, "gpuBytes", "graphNodes");
  });
});

/** Trains for some steps in plain code, as a new user writes it; resolves to the memory in use afterwards. */
function makeTraining() {
  const { nn, optim } = eg;
  const model = new nn.Sequential(
    new nn.Linear(16, 16),
    new nn.LayerNorm(16),
    new nn.GELU(),
    new nn.Dropout(0.2),
    new nn.Linear(16, 4),
  ).to("webgpu");
  const optimizer = new optim.AdamW(model.parameters());
  const x = eg.randn([8, 16], { device: "webgpu" });
  const classes = eg.randint(0, 4, [8], { device: "webgpu" });
  return (inScope) => {
    const step = () => {
      optimizer.zeroGrad();
      const loss = eg.crossEntropy(model.call(x), classes);
      loss.backward();
      optimizer.step();
      return loss.itemAsync();
    };
    return inScope ? eg.scope(step) : step();
  };
}

describe("memory of the device in training", options, () => {
  test("is flat over 300 steps in scopes", async () => {
    const step = makeTraining();
    for (let i = 0; i < 5; i++) await step(true);
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 300; i++) await step(true);
    await untilHeld(before, "gpuBytes", "jsHandles", "graphNodes");
    const after = eg.memory();
    // A step may find blocks still in use, and then takes others, which hold a few numbers.
    assert.ok(after.gpuPeakBytes <= before.gpuPeakBytes + 2048);
    assert.ok(after.gpuBuffers <= before.gpuBuffers + 4);
  });

  test("is flat over 300 steps of plain code, once garbage is collected", async () => {
    const step = makeTraining();
    for (let i = 0; i < 5; i++) await step(false);
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 300; i++) await step(false);
    await collectGarbage();
    const after = eg.memory();
    // The tensors of the last step may still be reachable from the stack.
    assert.ok(after.gpuBytes <= before.gpuBytes + 20_000, `${before.gpuBytes} ${after.gpuBytes}`);
    assert.ok(after.jsHandles <= before.jsHandles + 20);
    assert.ok(after.graphNodes <= before.graphNodes + 20);
  });

  test("is collected in time if tensors are large and are not freed explicitly", async () => {
    const bytes = 1 << 20;
    const x = zeros(bytes / 4);
    const before = gpuBytes();
    let peak = 0;
    for (let i = 0; i < 2000; i++) {
      x.add(1);
      if (i % 10 === 9) await nextTask();
      peak = Math.max(peak, gpuBytes() - before);
    }
    // The loop made 2000 MiB of tensors.
    assert.ok(peak < 1000 * bytes, `${Math.round(peak / bytes)} MiB were alive at once`);
  });
});
