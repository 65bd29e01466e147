// Several threads that use the same tensor, graph or mode.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { until } from "../../support/until.mjs";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kModule = new URL("../support/shared_module.mjs", import.meta.url);
const run = (name, ...args) => eg.spawn(kModule, name, ...args);
const leaf = (...values) => eg.tensor(values, { requiresGrad: true });
const kKept = { retainGraph: true };

after(() => eg.shutdown());

describe("a weight that two workers train and the main thread reads", () => {
  test("stays sound, whatever they do to its gradient", async () => {
    const w = eg.ones([64], { requiresGrad: true });
    let isOver = false;
    const trained = Promise.all([
      run("train", w, 400),
      run("train", w, 400),
      run("disturb", w, 400),
    ]).finally(() => {
      isOver = true;
    });
    let reads = 0;
    while (!isOver) {
      eg.scope(() => {
        for (let i = 0; i < 100; i++) {
          const { grad } = w;
          if (grad !== null) assert.deepEqual(grad.shape, [64]);
          reads++;
        }
      });
      await new Promise(setImmediate);
    }
    assert.ok(reads > 0);
    // The step of another thread has changed a tensor that this graph has saved, or the weight did not require a gradient then.
    const known = ["ModifiedInPlace", "NoGradPath"];
    for (const refused of await trained) {
      assert.deepEqual(
        Object.keys(refused ?? {}).filter((code) => !known.includes(code)),
        [],
      );
    }
    w.grad = null;
    w.sum().backward();
    assertTensor(w.grad, Array(64).fill(1));
  });

  test("is trained by all of them through models of their own", async () => {
    const { weight } = new eg.nn.Linear(2, 1, { bias: false });
    eg.nn.init.ones_(weight);
    const shared = { weight };
    await Promise.all([run("trainModel", shared, 200), run("trainModel", shared, 200)]);
    // 400 steps with a factor of 0.98 each, some of which were overwritten by another thread. One of a thread that had to wait between
    // its gradient and its step goes beyond 0, at most by the length of the first step.
    const [[value]] = await weight.array();
    assert.ok(value > -0.02 && value < 0.98 ** 100, String(value));
    assert.equal(weight.grad, null);
  });

  test("keeps its shape while another thread holds it", async () => {
    const [x, flag] = [eg.ones([2, 3]), eg.zeros([1])];
    const held = run("hold", x, flag);
    await run("hold", x, eg.ones([1]));
    for (const change of ["transpose_", "swapaxes_"]) {
      assert.throws(() => x[change](0, 1), { code: "InvalidArgument", message: /another thread/ });
    }
    assert.throws(() => x.unsqueeze_(0), { code: "InvalidArgument", message: /another thread/ });
    flag.fill_(1);
    assert.deepEqual(await held, [2, 3]);
    // A worker answers before it releases its tensors.
    await until("tensor that only this thread holds", () => {
      try {
        return x.unsqueeze_(0);
      } catch (error) {
        assert.match(error.message, /another thread/);
        return null;
      }
    });
    assert.deepEqual(x.shape, [1, 2, 3]);
  });
});

describe("functions of several threads", () => {
  test("are not taken for each other: custom Functions", async () => {
    const there = [2, 3, 5].map((factor) => run("wrongGradients", factor, 500));
    const { wrongGradients } = await import(kModule);
    for (let i = 0; i < 20; i++) {
      assert.equal(wrongGradients(7, 25), 0);
      await new Promise(setImmediate);
    }
    assert.deepEqual(await Promise.all(there), [0, 0, 0]);
  });

  test("are not taken for each other: hooks and their removal", async () => {
    const [x, w] = [leaf(1), leaf(1)];
    let calls = 0;
    const count = () => {
      calls++;
    };
    // Uses up some hundreds of numbers, so that the workers use the same ones.
    const y = x.mul(2);
    for (let i = 0; i < 100; i++) {
      y.registerHook(count);
      x.registerHook(count);
      y.gradFn.registerHook(count);
    }
    const called = await Promise.all([
      run("addAndRemoveHooks", w, 200),
      run("addAndRemoveHooks", w, 200),
    ]);
    assert.deepEqual(called, [0, 0]);
    y.sum().backward();
    assert.equal(calls, 300);
  });

  test("keep objects of their own with a node", async () => {
    const y = leaf(1).mul(2);
    y.gradFn.metadata.value = "main";
    assert.deepEqual(await run("ownMetadata", y, "worker"), [null, "worker"]);
    assert.equal(y.gradFn.metadata.value, "main");
  });
});

describe("modes that end before the call that was made in them", () => {
  test("of saved tensors keep what the call saves", async () => {
    let packs = 0;
    for (let round = 0; round < 30; round++) {
      const x = leaf(2);
      let gradient = null;
      eg.autograd.graph.savedTensorsHooks(
        (t) => {
          packs++;
          return t;
        },
        (t) => t,
        () => {
          gradient = eg.autograd.gradAsync(x.pow(3).sum(), x, { createGraph: true });
        },
      );
      // These reuse memory that was freed too early.
      for (let i = 0; i < 3; i++) {
        eg.autograd.graph.savedTensorsHooks(
          (t) => t,
          (t) => t,
          () => x.mul(x),
        );
      }
      const [first] = await gradient;
      assertTensor(first, [12]);
      assertTensor((await eg.autograd.gradAsync(first.sum(), x))[0], [12]);
    }
    assert.ok(packs > 30);
  });

  test("of forward mode carry its tangents to the end", async () => {
    const { dualLevel, makeDual } = eg.autograd.forwardAd;
    for (let round = 0; round < 30; round++) {
      const x = leaf(2);
      let gradient = null;
      dualLevel(() => {
        const y = makeDual(x, eg.ones([1]))
          .pow(3)
          .sum();
        gradient = eg.autograd.gradAsync(y, x, { createGraph: true });
      });
      dualLevel(() => makeDual(x, eg.ones([1])).mul(2));
      assertTensor((await gradient)[0], [12]);
    }
  });

  test("of dtypes are those of the call", async () => {
    const [x, w] = [leaf(1.001), leaf(1.001)];
    const loss = () =>
      x
        .reshape([1, 1])
        .matmul(w.reshape([1, 1]))
        .sum();
    const both = { createGraph: true };
    const calls = eg.autocast(() => ({
      now: eg.autograd.grad(loss(), x, both),
      later: eg.autograd.gradAsync(loss(), x, both),
    }));
    assertTensor((await calls.later)[0], await calls.now[0].array());
  });

  test("may end in another order than they began", () => {
    const { savedTensorsHooks } = eg.autograd.graph;
    const same = (t) => t;
    const x = leaf(3);
    let guard = null;
    savedTensorsHooks(same, same, () => {
      guard = eg.inferenceMode();
    });
    guard[Symbol.dispose]();
    assertTensor(eg.autograd.grad(x.square().sum(), x)[0], [6]);
    eg.autograd.forwardAd.dualLevel(() => {
      guard = eg.inferenceMode();
    });
    guard[Symbol.dispose]();
    assertTensor(eg.autograd.grad(x.square().sum(), x)[0], [6]);
    eg.autograd.forwardAd.dualLevel(() => undefined);
  });
});

describe("backward calls that overlap", () => {
  const kCalls = 60;
  const overlapping = (call) => Promise.all(Array.from({ length: kCalls }, (_, i) => call(i)));

  test("lose no gradient of a result", async () => {
    const x = leaf(1);
    const y = x.mul(2);
    y.retainGrad();
    const loss = y.sum();
    await overlapping(() => loss.backwardAsync(null, kKept));
    assertTensor(y.grad, [kCalls]);
    assertTensor(x.grad, [2 * kCalls]);
  });

  test("fire a hook of several tensors once each", async () => {
    const [a, b] = [leaf(1), leaf(2)];
    const [y, z] = [a.mul(2), b.mul(3)];
    const loss = y.mul(z).sum();
    const seen = { all: 0, any: 0, wrong: 0 };
    eg.autograd.graph.registerMultiGradHook([y, z], ([gy, gz]) => {
      seen.all++;
      // One factor scales both gradients of a call.
      if (gy.item() / gz.item() !== 6 / 2) seen.wrong++;
    });
    eg.autograd.graph.registerMultiGradHook(
      [y, z],
      () => {
        seen.any++;
      },
      "any",
    );
    await overlapping((i) => loss.backwardAsync(eg.full([], i + 1), kKept));
    assert.deepEqual(seen, { all: kCalls, any: kCalls, wrong: 0 });
  });

  test("fire it once for a call within a hook, and forget calls that fail", async () => {
    const [a, b] = [leaf(1), leaf(2)];
    const [y, z] = [a.mul(2), b.mul(3)];
    const loss = y.add(z).sum();
    let [all, depth, fails] = [0, 0, false];
    y.registerHook(() => {
      if (fails) throw new Error("no");
      if (depth++ === 0) loss.backward(null, kKept);
    });
    eg.autograd.graph.registerMultiGradHook([y, z], () => {
      all++;
    });
    loss.backward(null, kKept);
    assert.equal(all, 2);
    fails = true;
    assert.throws(() => loss.backward(null, kKept), /no/);
    fails = false;
    loss.backward(null, kKept);
    assert.equal(all, 3);
  });

  test("show a module's hooks the gradients of one call", async () => {
    const layer = new eg.nn.Linear(1, 1, { bias: false });
    eg.noGrad(() => layer.weight.fill_(3));
    let [calls, wrong] = [0, 0];
    layer.registerFullBackwardHook((_, [gradInput], [gradOutput]) => {
      calls++;
      if (gradInput.item() !== 3 * gradOutput.item()) wrong++;
    });
    const x = eg.ones([1, 1], { requiresGrad: true });
    const loss = layer.call(x.mul(1)).sum();
    await overlapping((i) => loss.backwardAsync(eg.full([], i + 1), kKept));
    assert.deepEqual([calls, wrong], [kCalls, 0]);
  });

  test("of workers and of this thread run over one graph", async () => {
    const x = leaf(1);
    const y = x.mul(2);
    let calls = 0;
    y.registerHook(() => {
      calls++;
    });
    const loss = y.sum();
    await Promise.all([
      run("backwardOften", loss, 100),
      run("backwardOften", loss, 100),
      ...Array.from({ length: 50 }, () => loss.backwardAsync(null, kKept)),
    ]);
    assert.equal(calls, 250);
    assertTensor(x.grad, [500]);
  });

  test("that are refused leave what is shared usable", async () => {
    const x = leaf(2);
    const loss = x.square().sum();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => loss.backwardAsync()),
    );
    for (const { reason } of outcomes.filter(({ status }) => status === "rejected")) {
      assert.equal(reason.code, "GraphFreed");
    }
    await assertRejects(loss.backwardAsync(), "GraphFreed");
    x.grad = null;
    await x.square().sum().backwardAsync();
    assertTensor(x.grad, [4]);
  });
});
