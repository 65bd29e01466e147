// Several threads on one device.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { threadId } from "node:worker_threads";
import { assertRejects, assertTensor } from "../../js/support/assert.mjs";
import { eg, leaf, onGpu, options } from "../support/engine.mjs";
import { train } from "../support/worker_module.mjs";

const kModule = new URL("../support/worker_module.mjs", import.meta.url);
const run = (name, ...args) => eg.spawn(kModule, name, ...args);

describe("engine workers on one device", options, () => {
  after(() => eg.shutdown());

  test("train models of their own at once, as each would alone", async () => {
    const kSteps = 10;
    const alone = [(await train(1, kSteps)).losses, (await train(2, kSteps)).losses];
    const [first, second, here] = await Promise.all([
      run("train", 1, kSteps),
      run("train", 2, kSteps),
      train(1, kSteps),
    ]);
    assert.equal(new Set([threadId, first.thread, second.thread]).size, 3);
    assert.deepEqual(first.losses, alone[0]);
    assert.deepEqual(second.losses, alone[1]);
    assert.deepEqual(here.losses, alone[0]);
    assert.ok(alone[0].at(-1) < alone[0][0]);
  });

  test("share a tensor, not a copy", async () => {
    const shared = eg.zeros([1000], { device: "webgpu" });
    const devices = await Promise.all([run("addOnes", shared, 20), run("addOnes", shared, 30)]);
    assert.deepEqual(devices, ["webgpu", "webgpu"]);
    assertTensor(shared, new Array(1000).fill(50));
  });

  test("add to one gradient, none of which is lost", async () => {
    const w = leaf([1, 2, 3]);
    await Promise.all([run("accumulate", w, 25), run("accumulate", w, 25)]);
    assertTensor(w.grad, [50, 50, 50]);
    assert.equal(w.grad.device, "webgpu");
  });

  test("return tensors with their graphs", async () => {
    const w = leaf([1, 2, 3]);
    const { squared, device } = await run("square", w);
    assert.equal(device, "webgpu");
    squared.sum().backward();
    assertTensor(w.grad, [2, 4, 6]);
  });

  test("have their hooks called, which may read, by backward of another thread", async () => {
    const [w, seen] = [leaf([1, 2, 3]), eg.zeros([1], { device: "webgpu" })];
    (await run("hooked", w, seen)).sum().backward();
    assertTensor(w.grad, [20, 20, 20]);
    await (await run("hooked", w, seen)).sum().backwardAsync();
    assertTensor(w.grad, [40, 40, 40]);
    assertTensor(seen, [3]);
  });

  test("may call backward in hooks of their backward calls", async () => {
    assert.deepEqual(await run("nested", onGpu([1, 2, 3])), [20, 20, 20]);
  });

  test("may end while reads are pending, and the device continues to work", async () => {
    const x = onGpu([1, 2]);
    await assertRejects(run("exitReading", x), "Internal", /exited/);
    assertTensor(x.mul(3), [3, 6]);
  });

  test("see one device's memory and statistics", async () => {
    const before = eg.webgpuStats();
    await run("train", 3, 2);
    assert.ok(eg.webgpuStats().dispatches > before.dispatches);
  });

  test("receive errors of the GPU, which continues to work for all", async () => {
    await assertRejects(run("outOfRange", onGpu([1, 2])), "IndexOutOfRange", /99/);
    assertTensor(onGpu([1, 2]).sum(), [3]);
  });
});
