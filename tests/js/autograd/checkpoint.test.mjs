// checkpoint(): saves memory by recomputing.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

const { checkpoint, grad } = eg.autograd;

describe("checkpoint", () => {
  test("computes the same gradients and runs the function again for them, once", () => {
    // rule: checkpoint-recomputes
    const [w, x] = [leaf([2, 3]), leaf([1, 4])];
    let calls = 0;
    const fn = (a, scale, b) => {
      calls++;
      return a.mul(b).exp().mul(scale).sum();
    };
    const expected = grad(fn(w, 0.01, x), [w, x]).map(values);
    calls = 0;
    const y = checkpoint(fn, w, 0.01, x);
    assert.equal(calls, 1);
    y.backward();
    assert.equal(calls, 2);
    assertTensor(w.grad, expected[0]);
    assertTensor(x.grad, expected[1]);
  });

  test("works with grad(), for some inputs, and with a graph that is kept", () => {
    // rule: checkpoint-any-call
    const x = leaf([2]);
    let calls = 0;
    const y = checkpoint((one) => {
      calls++;
      return one.mul(one).mul(one);
    }, x);
    for (let i = 0; i < 3; i++) assertTensor(grad(y, x, { retainGraph: true })[0], [12]);
    assert.equal(calls, 4);
  });

  test("stops the recomputation when everything has been found", () => {
    // rule: checkpoint-early-stop
    const x = leaf([2]);
    const log = [];
    const y = checkpoint((one) => {
      log.push("start");
      const two = one.exp();
      log.push("end");
      return two.add(1);
    }, x);
    y.backward();
    assert.deepEqual(log, ["start", "end", "start"]);
  });

  test("repeats random numbers and leaves the generator as it was", () => {
    // rule: checkpoint-random-numbers
    const x = leaf(eg.ones([100]).arraySync());
    eg.manualSeed(5);
    const masks = [];
    const y = checkpoint((one) => {
      const mask = eg.rand([100]);
      masks.push(values(mask));
      return one.mul(mask).exp();
    }, x);
    const next = values(eg.rand([3]));
    eg.manualSeed(5);
    eg.rand([100]);
    assert.deepEqual(values(eg.rand([3])), next);
    const state = values(eg.noGrad(() => eg.rand([2])));
    eg.manualSeed(5);
    eg.rand([103]);
    y.sum().backward();
    assert.deepEqual(masks[1], masks[0]);
    assert.deepEqual(values(eg.rand([2])), state);
  });

  test("nests", () => {
    // rule: checkpoint-nests
    const x = leaf([0.5, 0.25], { dtype: "float64" });
    const inner = (one) => one.sin().mul(one);
    const outer = (one) => checkpoint(inner, checkpoint(inner, one).exp()).sum();
    const plain = (one) => inner(inner(one).exp()).sum();
    const [expected] = grad(plain(x), x);
    assertTensor(grad(checkpoint(outer, x), x)[0], values(expected), { atol: 1e-12 });
    checkpoint(outer, x).backward();
    assertTensor(x.grad, values(expected), { atol: 1e-12 });
  });

  test("differentiates twice", () => {
    // rule: checkpoint-any-call
    const x = leaf([0.7], { dtype: "float64" });
    assert.equal(
      eg.autograd.gradgradcheck((one) => checkpoint((a) => a.sin().mul(a), one), x),
      true,
    );
  });

  test("keeps nothing of what the function saves", () => {
    // rule: checkpoint-recomputes
    const x = leaf(eg.ones([1000]).arraySync());
    const deep = (one) => {
      let y = one;
      for (let i = 0; i < 20; i++) y = y.sin();
      return y;
    };
    const bytesOf = (make) => {
      const before = eg.memory().cpuBytes;
      const y = eg.scope(make);
      const bytes = eg.memory().cpuBytes - before;
      y.dispose();
      return bytes;
    };
    const plain = bytesOf(() => deep(x));
    const checkpointed = bytesOf(() => checkpoint(deep, x));
    assert.ok(plain > 75_000, `${plain}`);
    assert.ok(checkpointed < 25_000, `${checkpointed}`);
  });

  test("says when the function does something else the second time", () => {
    // rule: checkpoint-determinism
    const x = leaf([1, 2]);
    let calls = 0;
    const fewer = checkpoint((one) => (calls++ === 0 ? one.exp().sin() : one.exp()), x);
    assertThrows(
      () => fewer.sum().backward(),
      "InvalidArgument",
      /recomputation saved 1 tensors, the forward 2/,
    );
    calls = 0;
    const other = checkpoint((one) => (calls++ === 0 ? one : one.sum()).exp(), x);
    assertThrows(
      () => other.sum().backward(),
      "InvalidArgument",
      /differ from those of the forward in shape/,
    );
  });

  test("passes on what the function throws, the first and the second time", () => {
    // rule: checkpoint-errors
    const x = leaf([1]);
    const error = new Error("stop");
    const isIt = (thrown) => thrown === error;
    assert.throws(
      () =>
        checkpoint(() => {
          throw error;
        }, x),
      isIt,
    );
    let calls = 0;
    const y = checkpoint((one) => {
      if (calls++ > 0) throw error;
      return one.exp();
    }, x);
    assert.throws(() => y.backward(), isIt);
    assert.throws(() => y.backward(), /stop|have been freed/);
  });

  test("does nothing without recording", () => {
    // rule: checkpoint-without-recording
    const x = leaf([1]);
    const y = eg.noGrad(() => checkpoint((one) => one.exp(), x));
    assert.equal(y.requiresGrad, false);
    assertTensor(
      checkpoint((one) => one.exp(), eg.zeros([1])),
      [1],
    );
  });

  test("leaves nothing behind, whether backward runs or not", () => {
    // rule: checkpoint-memory
    const x = leaf([1, 2]);
    assertFlat((i) => {
      const y = checkpoint((one) => one.exp().sin(), x);
      if (i % 3 === 0) y.sum().backward();
      if (i % 3 === 1) grad(y.sum(), x, { retainGraph: true });
      x.grad = null;
    });
  });
});

describe("the function runs again as it ran at first", () => {
  const layer = () => {
    eg.manualSeed(3);
    return new eg.nn.Linear(4, 3);
  };
  const input = () => leaf([[1, -2, 3, 0.5]]);
  // The modes in which the function runs; one is set around checkpoint(), a different one around backward().
  const modes = {
    autocast: [(fn) => eg.autocast(fn), (fn) => fn()],
    "autocast to float16": [
      (fn) => eg.autocast(fn, { dtype: "float16" }),
      (fn) => eg.autocast(fn, { dtype: "bfloat16" }),
    ],
    "no autocast, in a backward within one": [(fn) => fn(), (fn) => eg.autocast(fn)],
    "autocast that is off within another": [
      (fn) => eg.autocast(() => eg.autocast(fn, { enabled: false })),
      (fn) => eg.autocast(fn),
    ],
    "default dtype": [
      (fn) => {
        eg.setDefaultDtype("float64");
        try {
          return fn();
        } finally {
          eg.setDefaultDtype("float32");
        }
      },
      (fn) => fn(),
    ],
    "noGrad around backward": [(fn) => fn(), (fn) => eg.noGrad(fn)],
    "inferenceMode around backward": [(fn) => fn(), (fn) => eg.inferenceMode(fn)],
    "saved-tensor hooks": [
      (fn) =>
        eg.autograd.graph.savedTensorsHooks(
          (x) => x,
          (x) => x,
          fn,
        ),
      (fn) =>
        eg.autograd.graph.savedTensorsHooks(
          (x) => x,
          () => assert.fail("hooks of another time"),
          fn,
        ),
    ],
  };
  const fns = {
    "a layer": (x, model) => model.call(x).sin().exp(),
    "new tensors of the default dtype": (x) => eg.ones([4]).mul(x).mul(0.5).exp(),
    "random numbers": (x, model) =>
      eg.nn.functional
        .dropout(model.call(x), 0.5, true)
        .exp()
        .mul(eg.rand([3])),
  };
  for (const [mode, [forward, backward]] of Object.entries(modes)) {
    for (const [name, fn] of Object.entries(fns)) {
      test(`${name}: ${mode}`, async () => {
        const gradients = async (run, start) => {
          const model = layer();
          const x = input();
          eg.manualSeed(7);
          const y = forward(() => run(fn, x, model));
          await backward(() => start(y));
          const others = [...model.parameters()].map((p) =>
            p.grad === null ? [] : values(p.grad),
          );
          return [values(x.grad), ...others];
        };
        const start = (y) => void y.sum().backward();
        const summed = (y) => {
          const total = eg.enableGrad(() => y.sum());
          total.backward();
        };
        const outside = (y) => eg.inferenceMode(false, () => summed(y));
        const expected = await gradients(
          (f, ...args) => f(...args),
          mode.includes("around") ? outside : start,
        );
        const root = (y) => y.backward(eg.onesLike(y));
        assert.deepEqual(await gradients(checkpoint, root), expected);
        const restored = [eg.getDefaultDtype(), eg.isGradEnabled(), eg.isInferenceModeEnabled()];
        assert.deepEqual(restored, ["float32", true, false]);
        assert.equal(eg.matmul(eg.ones([1, 1]), eg.ones([1, 1])).dtype, "float32");
      });
    }
  }

  test("with backwardAsync, whatever is going on meanwhile", async () => {
    const model = layer();
    const [x, again] = [input(), input()];
    const fn = (one) => eg.nn.functional.dropout(model.call(one), 0.5, true).exp();
    eg.manualSeed(7);
    eg.autocast(() => fn(x))
      .sum()
      .backward();
    eg.manualSeed(7);
    const y = eg.autocast(() => checkpoint(fn, again)).sum();
    await y.backwardAsync();
    assert.deepEqual(values(again.grad), values(x.grad));
  });

  test("random numbers of a generator that the function is given do not disturb those that repeat", () => {
    const x = leaf([1, 2, 3, 4]);
    const masks = [];
    const fn = (one) => {
      const first = eg.rand([4]);
      eg.rand([2], { generator: new eg.Generator(5) });
      const second = eg.rand([4]);
      masks.push([values(first), values(second)]);
      return one.mul(first).exp().mul(second);
    };
    checkpoint((one) => checkpoint(fn, one).mul(eg.rand([4])), x)
      .sum()
      .backward();
    assert.ok(masks.length >= 2);
    for (const mask of masks) assert.deepEqual(mask, masks[0]);
  });

  test("random numbers continue after the first run as they do without checkpoint", () => {
    const x = leaf([1, 2, 3, 4]);
    const fn = (one) =>
      one
        .mul(eg.rand([4]))
        .exp()
        .mul(eg.randn([3, 1]));
    const run = (call) => {
      eg.manualSeed(5);
      const y = call(fn, x);
      return [values(y), values(eg.randn([5])), eg.random.initialSeed()];
    };
    const expected = run((f, ...args) => f(...args));
    assert.deepEqual(run(checkpoint), expected);
    assert.deepEqual(
      run((f, one) => checkpoint((two) => checkpoint(f, two), one)),
      expected,
    );
    const seeded = (one) => {
      eg.manualSeed(6);
      return one.mul(eg.rand([4])).exp();
    };
    checkpoint(seeded, x);
    const after = values(eg.rand([2]));
    seeded(x);
    assert.deepEqual(values(eg.rand([2])), after);
    assert.throws(() =>
      checkpoint(() => {
        eg.rand([4]);
        throw new Error("stop");
      }, x),
    );
    eg.rand([1]);
  });

  test("random numbers repeat though another thread draws meanwhile", async () => {
    const url = new URL("../support/thread_module.mjs", import.meta.url);
    const others = eg.spawn(url, "draw", 40_000);
    let wrong = 0;
    for (let i = 0; i < 200; i++) {
      eg.scope(() => {
        const masks = new Set();
        const fn = (one) => {
          const both = [eg.rand([50]), eg.rand([50])];
          masks.add(String(both.map(values)));
          return one.mul(both[0]).exp().mul(both[1]).sin();
        };
        const x = eg.ones([50], { requiresGrad: true });
        checkpoint(fn, x).sum().backward();
        wrong += masks.size - 1;
      });
    }
    await others;
    assert.equal(wrong, 0);
  });

  test("what draws between the runs is not disturbed, and disturbs nothing", () => {
    eg.manualSeed(5);
    const expected = [values(eg.rand([4])), values(eg.rand([4])), values(eg.rand([4]))];
    eg.manualSeed(5);
    const x = leaf([1, 2, 3, 4]);
    const y = checkpoint((one) => one.mul(eg.rand([4])).exp(), x);
    y.registerHook(() => {
      assert.deepEqual(values(eg.rand([4])), expected[1]);
    });
    y.sum().backward();
    const e = expected[0].map((m, i) => m * Math.exp(m * (i + 1)));
    assertTensor(x.grad, e, { rtol: 1e-5 });
    assert.deepEqual(values(eg.rand([4])), expected[2]);
  });

  test("inside of vmap, and vmap inside of it", () => {
    const x = leaf(
      [
        [0.5, 1],
        [2, 3],
        [4, 5],
      ],
      { dtype: "float64" },
    );
    const fn = (one) => one.sin().exp().mul(one);
    const expected = values(grad(fn(x).sum(), x)[0]);
    const { vmap } = eg.func;
    assert.deepEqual(values(grad(vmap((row) => checkpoint(fn, row))(x).sum(), x)[0]), expected);
    assert.deepEqual(values(grad(checkpoint((all) => vmap(fn)(all), x).sum(), x)[0]), expected);
    const each = vmap(eg.func.grad((row) => checkpoint(fn, row).sum()))(x.detach());
    assert.deepEqual(values(each), expected);
    const twice = vmap(vmap((one) => checkpoint(fn, one)))(x);
    assert.deepEqual(values(grad(twice.sum(), x)[0]), expected);
  });
});
