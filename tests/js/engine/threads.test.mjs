// backwardAsync, gradAsync and spawn: several threads in one engine.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { threadId } from "node:worker_threads";
import { until } from "../../support/until.mjs";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const kModule = new URL("../support/thread_module.mjs", import.meta.url);
const run = (name, ...args) => eg.spawn(kModule, name, ...args);
const leaf = (...values) => eg.tensor(values, { requiresGrad: true });

after(() => eg.shutdown());

describe("backwardAsync", () => {
  test("adds the gradients that backward adds", async () => {
    const x = leaf(1, 2, 3);
    const pending = x.mul(x).sum().backwardAsync();
    assert.ok(pending instanceof Promise);
    assert.equal(await pending, undefined);
    assertTensor(x.grad, [2, 4, 6]);
    await eg.autograd.backwardAsync([x.sum(), x.mul(3).sum()]);
    assertTensor(x.grad, [6, 8, 10]);
  });

  test("calls hooks on the thread that registered them", async () => {
    // rule: hooks-on-their-thread
    const x = leaf(1, 2);
    const y = x.mul(3);
    const threads = [];
    y.registerHook((grad) => {
      threads.push(threadId);
      return grad.mul(2);
    });
    x.registerPostAccumulateGradHook(() => {
      threads.push(threadId);
    });
    await y.sum().backwardAsync();
    assertTensor(x.grad, [6, 6]);
    assert.deepEqual(threads, [threadId, threadId]);
  });

  test("calls hooks with the modes of the backward call", async () => {
    // rule: caller-state
    const x = leaf(2);
    const seen = [];
    const y = x.pow(3);
    y.registerHook(() => {
      seen.push(eg.isGradEnabled());
    });
    await y.sum().backwardAsync(null, { retainGraph: true });
    await y.sum().backwardAsync(null, { createGraph: true });
    assert.deepEqual(seen, [false, true]);
    assert.equal(eg.isGradEnabled(), true);
  });

  test("runs a Function, and a backward within it, from JavaScript", async () => {
    // rule: hooks-on-their-thread, hook-may-nest
    class Cube extends eg.autograd.Function {
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        return x.pow(3);
      }
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        const inner = x.detach().requiresGrad_();
        eg.enableGrad(() => inner.pow(3).sum().backward());
        return grad.mul(inner.grad);
      }
    }
    const x = leaf(1, 2);
    await Cube.apply(x).sum().backwardAsync();
    assertTensor(x.grad, [3, 12]);
  });

  test("rejects with the very object that a hook threw", async () => {
    // rule: thrown-object
    const thrown = { not: "even an error" };
    const y = leaf(1).mul(2);
    y.registerHook(() => {
      throw thrown;
    });
    await assert.rejects(y.sum().backwardAsync(), (error) => error === thrown);
  });

  test("rejects with the errors of backward", async () => {
    await assertRejects(leaf(1, 2).mul(2).backwardAsync(), "NonScalarBackward");
    await assertRejects(eg.ones([1]).backwardAsync(), "NoGradPath");
    const y = leaf(3).pow(2);
    await y.backwardAsync();
    await assertRejects(y.backwardAsync(), "GraphFreed", /retainGraph: true/);
  });

  test("may run many times at once on one leaf", async () => {
    // rule: threads-share-a-leaf
    const x = leaf(1, 1);
    await Promise.all(Array.from({ length: 20 }, (_, i) => x.mul(i).sum().backwardAsync()));
    assertTensor(x.grad, [190, 190]);
  });

  test("leaves nothing behind when it fails", async () => {
    // rule: failed-call-leaks-nothing
    const x = leaf(1, 2);
    const attempt = async () => {
      const y = x.mul(2);
      y.registerHook(() => {
        throw new Error("no");
      });
      await assert.rejects(y.sum().backwardAsync());
      y.dispose();
    };
    const held = () => {
      const { tensors, graphNodes } = eg.memory();
      return [tensors, graphNodes];
    };
    await eg.scope(attempt);
    // The gradients that hooks have received.
    await collectGarbage();
    const before = held();
    for (let i = 0; i < 50; i++) await eg.scope(attempt);
    // The call is rejected before its thread has released everything.
    const isBack = () => held().every((count, i) => count <= before[i]);
    await untilCollected(() => `${before} tensors and nodes again; there are ${held()}`, isBack);
    assert.equal(x.grad, null);
  });
});

describe("gradAsync", () => {
  test("returns the gradients that grad returns, to any order", async () => {
    const x = leaf(2);
    const [first] = await eg.autograd.gradAsync(x.pow(3).sum(), x, { createGraph: true });
    assertTensor(first, [12]);
    const [second] = await eg.autograd.gradAsync(first.sum(), x);
    assertTensor(second, [12]);
    assert.equal(x.grad, null);
  });

  test("knows the options of grad", async () => {
    const [x, unused] = [leaf(2), leaf(1)];
    await assertRejects(eg.autograd.gradAsync(x.sum(), unused), "UnusedInput");
    const grads = await eg.autograd.gradAsync(x.sum(), [x, unused], { allowUnused: true });
    assertTensor(grads[0], [1]);
    assert.equal(grads[1], null);
  });
});

describe("spawn", () => {
  test("runs an export on another thread", async () => {
    assert.notEqual(await run("thread"), threadId);
    assert.notEqual(await eg.spawn(kModule.href, "thread"), threadId);
    assert.notEqual(await eg.spawn("tests/js/support/thread_module.mjs", "thread"), threadId);
  });

  test("shares tensors, also in objects and arrays, with their history", async () => {
    const x = leaf(1, 2, 3);
    const { doubled, list } = await run("twice", x);
    assertTensor(doubled, [2, 4, 6]);
    doubled.sum().backward();
    assertTensor(x.grad, [2, 2, 2]);
    assert.equal(list[1], 1);
    await run("addInPlace", list[0], 10);
    assertTensor(x, [11, 12, 13]);
  });

  test("rejects with what the function throws", async () => {
    await assert.rejects(run("typeError"), { name: "TypeError", message: "wrong in the worker" });
    await assertRejects(run("shapeError", leaf(1, 2)), "ShapeMismatch", /7x7|\[7, 7\]/);
  });

  test("says what cannot be done", async () => {
    await assertRejects(run("missing"), "InvalidArgument", /exports no function "missing"/);
    await assertRejects(run("unsendable"), "InvalidArgument", /cannot be sent/);
    await assertRejects(
      run("twice", () => 1),
      "InvalidArgument",
      /stateDict/,
    );
    await assert.rejects(eg.spawn("nowhere.mjs", "f"), /nowhere/);
    assert.notEqual(await run("thread"), threadId);
  });

  test("refuses tensors where they cannot be sent, and says what to send", async () => {
    class Holder {
      tensor = leaf(1);
    }
    const values = {
      Map: new Map([["w", leaf(1)]]),
      Set: new Set([leaf(1)]),
      Holder: new Holder(),
      Linear: new eg.nn.Linear(1, 1),
      SGD: new eg.optim.SGD([leaf(1)], { lr: 0.1 }),
    };
    const before = eg.memory().jsHandles;
    for (const [name, value] of Object.entries(values)) {
      const text = new RegExp(`\\[spawn\\].*class ${name}.*arrays.*plain objects.*stateDict`);
      await assertRejects(run("twice", leaf(1), value), "InvalidArgument", text);
      await assertRejects(run("twice", { deep: [value] }), "InvalidArgument", /value's \.deep\.0/);
      await assertRejects(run("twice", new Map([[1, { value }]])), "InvalidArgument", /class Map/);
    }
    for (const kind of ["map", "set", "instance", "layer"]) {
      await assertRejects(
        run("hidden", kind),
        "InvalidArgument",
        /\[spawn\].*that contains a tensor/,
      );
    }
    assert.ok(eg.memory().jsHandles - before <= Object.keys(values).length);
    const fine = [new Map([[1, new Set([2])]]), new Date(0), new Float32Array(2), /a/, null];
    assert.deepEqual(await run("same", fine), fine);
  });

  test("rejects when the worker ends, and continues to work", async () => {
    await assertRejects(run("die"), "Internal", /ended before/);
    assert.notEqual(await run("thread"), threadId);
  });

  test("adds up the gradients of several threads in one leaf", async () => {
    const w = eg.zeros([100], { requiresGrad: true });
    await Promise.all([run("accumulate", w, 200), run("accumulate", w, 200)]);
    assertTensor(w.grad, Array(100).fill(400));
  });

  test("has a worker's backward call the hooks of this thread here", async () => {
    const x = leaf(1);
    const y = x.mul(2);
    const threads = [];
    y.registerHook((grad) => {
      threads.push(threadId);
      return grad.mul(5);
    });
    assert.notEqual(await run("backward", y.sum()), threadId);
    assertTensor(x.grad, [10]);
    assert.deepEqual(threads, [threadId]);
  });

  test("takes what a hook of this thread throws to the worker that called backward", async () => {
    const y = leaf(1).mul(2);
    y.registerHook(() => {
      throw new RangeError("from the main thread");
    });
    assert.deepEqual(await run("backwardError", y.sum()), {
      name: "RangeError",
      message: "from the main thread",
    });
  });

  test("has backward call the hooks of an idle worker there", async () => {
    const [x, ranOn] = [leaf(1), eg.zeros([1])];
    const y = await run("hooked", x, ranOn);
    y.sum().backward();
    assertTensor(x.grad, [20]);
    assert.notEqual(ranOn.item(), threadId);
    assert.notEqual(ranOn.item(), 0);
  });

  test("fails a backward call whose hook is on a thread that has ended", async () => {
    const [x, ranOn] = [leaf(1), eg.zeros([1])];
    const y = await run("hooked", x, ranOn);
    await assertRejects(run("die"), "Internal");
    assert.throws(() => y.sum().backward(), { code: "Internal", message: /ended/ });
    x.sum().backward();
    assertTensor(x.grad, [1]);
  });

  test("leaves other threads alone while one is busy", async () => {
    const [running, flag] = [eg.zeros([1]), eg.zeros([1])];
    const starved = run("busy", running, flag);
    assert.notEqual(await run("thread"), threadId);
    await until("function at work", () => running.item() === 1);
    const x = leaf(3);
    await x.pow(2).backwardAsync();
    assertTensor(x.grad, [6]);
    flag.fill_(1);
    assert.equal(await starved, "done");
  });

  test("frees what the functions made", async () => {
    const x = leaf(1, 2);
    assert.equal(await run("failing", x, 10), 10);
    const { tensors, graphNodes } = eg.memory();
    assert.equal(await run("failing", x, 200), 200);
    // A worker answers before it has released everything.
    await until("release of tensors and nodes", () => {
      const now = eg.memory();
      return now.tensors <= tensors && now.graphNodes <= graphNodes;
    });
  });
});

describe("a program", () => {
  const kStart = 'import * as eg from "edgegrad"; await eg.init({ threads: 2 });\n';

  test("lives until an awaited backwardAsync is done, and then ends", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      const x = eg.ones([300, 300], { requiresGrad: true });
      let y = x;
      for (let i = 0; i < 10; i++) y = y.matmul(x).mul(0.003);
      await y.sum().backwardAsync();
      console.log(x.grad.shape.join());`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "300,300");
  });

  // Reference counts are not atomic until the first thread starts that may hold objects (src/base/sharing.h).
  test("counts exactly what was there before the first thread and goes after it", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      import { until } from "./tests/support/until.mjs";
      const counts = () => {
        const { tensors, storages, cpuBytes, graphNodes, jsHandles } = eg.memory();
        return [tensors, storages, cpuBytes, graphNodes, jsHandles].join();
      };
      const start = counts();
      const x = eg.ones([4], { requiresGrad: true });
      const made = eg.scope(() => {
        let y = x;
        for (let i = 0; i < 100; i++) y = y.mul(1.5).add(x.detach());
        return y.sum();
      });
      await eg.spawn(${JSON.stringify(kModule.href)}, "thread");
      const kept = { retainGraph: true };
      await Promise.all([made.backwardAsync(null, kept), made.backwardAsync(null, kept)]);
      made.dispose();
      x.grad.dispose();
      x.grad = null;
      x.dispose();
      // Other threads may still be about to release what they held last.
      await until(() => start + " again; it is " + counts(), () => counts() === start);
      console.log("none left");`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "none left");
  });

  test("ends by itself after spawn", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      console.log(typeof (await eg.spawn(${JSON.stringify(kModule.href)}, "thread")));`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "number");
  });

  test("may shut down with a worker at work, and start again", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      const flag = eg.zeros([1]);
      const job = eg.spawn(${JSON.stringify(kModule.href)}, "busy", eg.zeros([1]), flag);
      const ended = job.catch((error) => error.code);
      await eg.shutdown();
      console.log(await ended);
      await eg.init({ threads: 2 });
      console.log(eg.ones([3]).sum().item());`);
    assert.equal(status, 0, stderr);
    assert.deepEqual(stdout.trim().split("\n"), ["Internal", "3"]);
  });

  test("without threads has the async forms, and no spawn", async () => {
    const { stdout, stderr } = await runProgram(`
      import * as eg from "edgegrad";
      await eg.init({ variant: "single" });
      const x = eg.ones([2], { requiresGrad: true });
      await x.sum().backwardAsync();
      console.log(x.grad.arraySync().join());
      await eg.spawn("x.mjs", "f").catch((error) => console.log(error.code, error.message));`);
    assert.equal(stderr, "");
    assert.match(stdout, /^1,1\nInvalidArgument \[spawn\].*Cross-Origin/);
  });
});
