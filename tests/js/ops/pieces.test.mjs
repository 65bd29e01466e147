// backwardAsync without threads, which runs in time slices between which the program continues.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const leaf = (...values) => eg.tensor(values, { requiresGrad: true });
const turn = () => new Promise((resolve) => setImmediate(resolve));

// Its backward takes a few hundred milliseconds.
function long(x) {
  let y = x;
  for (let i = 0; i < 60; i++) y = y.matmul(x).mul(0.003);
  return y.sum();
}

describe("backwardAsync without threads", () => {
  before(async () => {
    await eg.shutdown();
    await eg.init({ variant: "single" });
  });
  after(() => eg.shutdown());

  test("lets the program continue between its nodes", async () => {
    const x = eg.rand([300, 300], { requiresGrad: true });
    let isOver = false;
    const pending = long(x)
      .backwardAsync()
      .then(() => {
        isOver = true;
      });
    let turns = 0;
    for (; !isOver; turns++) await turn();
    await pending;
    assert.ok(turns > 5, `${turns} turns`);
    const y = x.detach().requiresGrad_();
    long(y).backward();
    assert.deepEqual(x.grad.arraySync(), y.grad.arraySync());
  });

  test("does nothing before the program has continued", async () => {
    const x = leaf(1, 2);
    const pending = x.sum().backwardAsync();
    assert.equal(x.grad, null);
    await pending;
    assertTensor(x.grad, [1, 1]);
  });

  test("leaves room for operations and calls of other graphs", async () => {
    const x = eg.rand([200, 200], { requiresGrad: true });
    const pending = long(x).backwardAsync();
    for (let i = 0; i < 5; i++) {
      await turn();
      const y = leaf(i);
      y.mul(y).sum().backward();
      assertTensor(y.grad, [2 * i]);
      assert.equal(eg.isGradEnabled(), true);
    }
    await pending;
    assert.deepEqual(x.grad.shape, [200, 200]);
  });

  test("runs many calls, and those that hooks make", async () => {
    const x = leaf(1, 1);
    const inner = leaf(3);
    let made;
    const y = x.mul(2);
    y.registerHook(() => {
      made = eg.enableGrad(() => inner.mul(4).sum()).backwardAsync();
    });
    const calls = [1, 2, 3].map((i) => x.mul(i).sum().backwardAsync());
    await Promise.all([...calls, y.sum().backwardAsync()]);
    await made;
    assertTensor(x.grad, [8, 8]);
    assertTensor(inner.grad, [4]);
  });

  test("takes the modes of the call", async () => {
    const x = leaf(2);
    const [first] = await eg.autograd.gradAsync(x.pow(3).sum(), x, { createGraph: true });
    assert.equal(first.requiresGrad, true);
    const seen = [];
    const y = x.mul(3);
    y.registerHook(() => {
      seen.push(eg.isGradEnabled());
    });
    await y.sum().backwardAsync();
    assert.deepEqual(seen, [false]);
  });

  test("rejects with what goes wrong", async () => {
    const thrown = { not: "even an error" };
    const y = leaf(1).mul(2);
    y.registerHook(() => {
      throw thrown;
    });
    await assert.rejects(y.sum().backwardAsync(), (error) => error === thrown);
    await assertRejects(leaf(1, 2).mul(2).backwardAsync(), "NonScalarBackward");
    await assertRejects(eg.autograd.gradAsync(leaf(1).sum(), leaf(1)), "UnusedInput");
  });

  test("frees a graph that has run", async () => {
    const x = leaf(1, 2);
    const once = () => eg.scope(() => x.exp().sum().backwardAsync());
    await once();
    await collectGarbage();
    const before = eg.memory();
    for (let i = 0; i < 20; i++) await once();
    const now = eg.memory();
    // Graphs of earlier tests may be collected meanwhile.
    assert.ok(now.graphNodes <= before.graphNodes, `${now.graphNodes} nodes`);
    assert.ok(now.tensors <= before.tensors, `${now.tensors} tensors`);
  });
});

describe("init without threads", () => {
  test("warns once of threads that it cannot have", async () => {
    const { status, stdout, stderr } = await runProgram(`
      import * as eg from "edgegrad";
      for (let i = 0; i < 2; i++) {
        await eg.init({ variant: "single", threads: 4 });
        console.log(eg.runtime().threads);
        await eg.shutdown();
      }`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, "1\n1\n");
    assert.equal(stderr.match(/\[init\] threads: 4/g)?.length, 1);
  });
});
