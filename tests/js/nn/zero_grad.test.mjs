// zeroGrad() of modules and optimizers removes gradients, or sets them to zeros in place.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kOptimizers = Object.keys(eg.optim).filter((name) => {
  return eg.optim[name].prototype instanceof eg.optim.Optimizer;
});

/** Returns a layer with gradients, and all objects that can remove them. */
function owners() {
  const layer = new eg.nn.Linear(2, 1);
  const model = new eg.nn.Sequential(layer);
  const optimizers = kOptimizers.map((name) => new eg.optim[name](layer.parameters(), { lr: 0.1 }));
  const backward = () =>
    layer
      .call(eg.ones([1, 2]))
      .sum()
      .backward();
  return [layer, model, ...optimizers].map((owner) => ({ owner, layer, backward }));
}

describe("zeroGrad", () => {
  test("removes gradients by default, and on request", () => {
    for (const { owner, layer, backward } of owners()) {
      for (const given of [[], [true], [undefined], [{}], [{ setToNone: true }]]) {
        backward();
        assert.ok(layer.weight.grad !== null);
        owner.zeroGrad(...given);
        assert.equal(layer.weight.grad, null);
        assert.equal(layer.bias.grad, null);
      }
    }
  });

  test("makes zeros of the same tensors when setToNone is false", () => {
    for (const { owner, layer, backward } of owners()) {
      for (const given of [[false], [{ setToNone: false }]]) {
        layer.bias.grad = null;
        layer.weight.grad = null;
        owner.zeroGrad(...given);
        assert.equal(layer.weight.grad, null);
        backward();
        const { grad } = layer.weight;
        const view = grad.view([2]);
        owner.zeroGrad(...given);
        assert.equal(layer.weight.grad, grad);
        assert.deepEqual(view.arraySync(), [0, 0]);
        backward();
        assert.equal(layer.weight.grad, grad);
        assert.deepEqual(view.arraySync(), [1, 1]);
      }
    }
  });

  test("takes gradients that were recorded out of their graphs", () => {
    for (const makeGrad of [(x) => x.mul(2), (x) => x.detach().clone().requiresGrad_()]) {
      const x = new eg.nn.Parameter(eg.ones([2]));
      x.grad = makeGrad(x);
      const { grad } = x;
      assert.equal(grad.requiresGrad, true);
      new eg.optim.SGD([x], { lr: 1 }).zeroGrad({ setToNone: false });
      assert.equal(x.grad, grad);
      assert.equal(grad.requiresGrad, false);
      assert.equal(grad.gradFn, null);
      assert.deepEqual(x.arraySync(), [1, 1]);
      assert.deepEqual(grad.arraySync(), [0, 0]);
    }
  });

  test("is a new version of the gradient, and in a scope as outside", () => {
    const x = new eg.nn.Parameter(eg.ones([2]));
    x.sum().backward();
    const { grad } = x;
    const { version } = grad;
    eg.scope(() => new eg.optim.SGD([x], { lr: 1 }).zeroGrad(false));
    assert.ok(grad.version > version);
    assert.deepEqual(x.grad.arraySync(), [0, 0]);
  });

  test("refuses other arguments by name", () => {
    for (const { owner } of owners()) {
      for (const [given, text] of [
        [[0], /setToNone: expected true or false, got number 0/],
        [["false"], /setToNone/],
        [[null], /setToNone/],
        [[{ set_to_none: false }], /Did you mean "setToNone"/],
        [[false, true], /too many arguments/],
      ]) {
        assertThrows(() => owner.zeroGrad(...given), "InvalidArgument", text);
        const name = new RegExp(`^\\[${owner.constructor.name}\\.zeroGrad\\]`);
        assertThrows(() => owner.zeroGrad(...given), "InvalidArgument", name);
      }
    }
  });
});

describe("properties of a module that cannot be read", () => {
  const throwing = { enumerable: true, get() { throw new Error("no"); } }; // biome-ignore format: short
  const refusing = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const kBad = {
    "a getter that throws": (module) => Object.defineProperty(module, "bad", throwing),
    "a getter in what it holds": (module) => {
      module.bad = Object.defineProperty({}, "inner", throwing);
    },
    "a revoked proxy": (module) => {
      module.bad = refusing();
    },
    "a list of revoked proxies": (module) => {
      module.bad = [refusing()];
    },
    "a getter that asks the module": (module) => {
      const get = () => module.parameters().length;
      Object.defineProperty(module, "bad", { enumerable: true, get });
    },
  };

  for (const [what, spoil] of Object.entries(kBad)) {
    test(`are not its members, and do no harm: ${what}`, async () => {
      class Spoilt extends eg.nn.Module {
        constructor() {
          super();
          spoil(this);
          this.layer = new eg.nn.Linear(2, 2);
        }

        forward(x) {
          return this.layer.call(x);
        }
      }
      const model = new Spoilt();
      eg.zeros([1]);
      // Assignments of a constructor are recorded at the end of the turn, where an error would end the process.
      await new Promise(setImmediate);
      assert.equal(model.parameters().length, 2);
      assert.deepEqual(Object.keys(model.stateDict()), ["layer.weight", "layer.bias"]);
      assert.deepEqual(model.train().call(eg.ones([1, 2])).shape, [1, 2]);
      assert.match(String(model), /layer/);
      model.zeroGrad();
      model.to("float64");
      assert.equal(model.layer.weight.dtype, "float64");
    });
  }
});
