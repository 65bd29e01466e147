// A tensor that JavaScript has already is the same object wherever the engine returns it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { forwardAd, graph } = eg.autograd;
const leaf = () => eg.tensor([1, 2, 3], { requiresGrad: true });
const handles = () => eg.memory().jsHandles;

class Doubled extends eg.autograd.Function {
  static seen = [];
  static forward(ctx, x) {
    ctx.saveForBackward(x);
    return x.mul(2);
  }
  static backward(ctx, grad) {
    Doubled.seen = ctx.savedTensors;
    return grad.mul(2);
  }
}

/** By name: a tensor, and what the engine returns for it. */
const kReturned = {
  "the argument of a post-accumulate hook": () => {
    const [x, seen] = [leaf(), []];
    x.registerPostAccumulateGradHook((param) => void seen.push(param));
    x.mul(2).sum().backward();
    return [x, ...seen];
  },
  "the base of a view, and of a view of that": () => {
    const x = leaf();
    const view = x.narrow(0, 0, 2);
    return [x, view.base, view.narrow(0, 0, 1).base];
  },
  "the variable of an AccumulateGrad": () => {
    const x = leaf();
    return [x, x.mul(2).gradFn.nextFunctions[0][0].variable];
  },
  "the saved tensors of a node": () => {
    const [x, factor] = [leaf(), eg.tensor([4, 5, 6])];
    const { saved } = x.mul(factor).gradFn;
    assert.equal(saved.other, factor);
    return [x, x.sin().gradFn.saved.self];
  },
  "the saved tensors of a Function": () => {
    const x = leaf();
    Doubled.apply(x).sum().backward();
    return [x, ...Doubled.seen];
  },
  "the arguments of pack and unpack": () => {
    const [x, seen] = [leaf(), []];
    const note = (t) => {
      seen.push(t);
      return t;
    };
    const y = graph.savedTensorsHooks(note, note, () => x.sin());
    y.sum().backward();
    assert.equal(seen.length, 2);
    return [x, ...seen];
  },
  "a tangent": () =>
    forwardAd.dualLevel(() => {
      const tangent = eg.ones([3]);
      return [tangent, forwardAd.unpackDual(forwardAd.makeDual(leaf(), tangent)).tangent];
    }),
  "a gradient that was set": () => {
    const [x, grad] = [leaf(), eg.ones([3])];
    x.grad = grad;
    return [grad, x.grad, x.grad];
  },
  "a conversion without effect": () => {
    const x = leaf();
    return [x, x.contiguous(), x.to("float32"), x.to("cpu"), x.to(x), x.float(), x.typeAs(x)];
  },
  "an op without effect": () => {
    const x = leaf();
    const { dropout } = eg.nn.functional;
    return [x, x.flatten(), eg.real(x), x.conj(), dropout(x, { training: false })];
  },
};

describe("a tensor that JavaScript has is the same object as", () => {
  for (const [name, returned] of Object.entries(kReturned)) {
    test(name, () => {
      const before = handles();
      eg.scope(() => {
        const [x, ...found] = returned();
        assert.ok(found.length > 0);
        for (const one of found) assert.equal(one, x);
        assert.equal(x.disposed, false);
      });
      assert.equal(handles(), before);
    });
  }
});

describe("the objects of tensors", () => {
  test("find what a program knows about a parameter", () => {
    // One optimizer for each parameter, which steps as soon as its gradient is there.
    const model = new eg.nn.Sequential(new eg.nn.Linear(3, 4), new eg.nn.Linear(4, 1));
    const parameters = [...model.parameters()];
    const optimizers = new Map(parameters.map((p) => [p, new eg.optim.SGD([p], { lr: 0.1 })]));
    parameters[0].label = "first";
    const labels = [];
    for (const p of parameters)
      p.registerPostAccumulateGradHook((param) => {
        labels.push(param.label);
        optimizers.get(param).step();
        optimizers.get(param).zeroGrad();
      });
    const before = parameters.map((p) => p.clone());
    eg.scope(() =>
      model
        .call(eg.ones([2, 3]))
        .sum()
        .backward(),
    );
    parameters.forEach((p, i) => {
      assert.equal(p.grad, null);
      assert.equal(eg.equal(p, before[i]), false);
    });
    assert.deepEqual(labels.filter(Boolean), ["first"]);
  });

  test("are not those of equal tensors", () => {
    const x = leaf();
    for (const other of [x.clone(), x.detach(), x.reshape(3), x.view(3), x.expand(3), x.at()])
      assert.notEqual(other, x);
    assert.notEqual(x.to("float64"), x);
    assert.notEqual(eg.zeros([2, 3]).t().contiguous(), x);
  });

  test("are new ones for tensors whose object was disposed", () => {
    const x = leaf();
    const view = x.narrow(0, 0, 2);
    x.dispose();
    const { base } = view;
    assert.notEqual(base, x);
    assert.equal(view.base, base);
    assert.deepEqual(base.tolist(), [1, 2, 3]);
  });

  test("are not kept by what can return them", async () => {
    const collected = [];
    const registry = new FinalizationRegistry((name) => collected.push(name));
    const view = (() => {
      const x = leaf();
      registry.register(x, "base");
      const part = x.narrow(0, 0, 2);
      assert.equal(part.base, x);
      return part;
    })();
    await untilCollected("the base's object", () => collected.length > 0);
    // The tensor is still there, and its new object is found again.
    const { base } = view;
    assert.deepEqual(base.tolist(), [1, 2, 3]);
    await collectGarbage();
    assert.equal(view.base, base);
  });

  test("are found after many others, of scopes and of none", async () => {
    const kept = Array.from({ length: 3000 }, (_, i) => eg.full([1], i));
    for (let i = 0; i < 5000; i++) eg.scope(() => kept[i % 3000].add(1));
    for (let i = 0; i < 5000; i++) kept[i % 3000].add(1).dispose();
    for (const x of kept) assert.equal(x.contiguous(), x);
    await new Promise(setImmediate);
    for (const x of kept) assert.equal(x.contiguous(), x);
    for (const x of kept) x.dispose();
  });

  test("belong to their thread", async () => {
    const x = leaf();
    const module = new URL("../support/spawn_module.mjs", import.meta.url).href;
    assert.deepEqual(await eg.spawn(module, "identity", x), { base: true, parameter: true });
    assert.equal(x.narrow(0, 0, 1).base, x);
  });
});
