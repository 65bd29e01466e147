// Errors thrown by JavaScript functions that C++ calls.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf } from "../support/graphs.mjs";

const { graph, checkpoint, Function: AutogradFunction } = eg.autograd;

// Each returns an output of `x` whose backward throws `thrown`, each from a different kind of function.
const kKinds = {
  "a tensor hook": (x, fail) => {
    const y = x.mul(2);
    y.registerHook(fail);
    return y;
  },
  "a hook of a leaf": (x, fail) => {
    const leafOfItsOwn = x.detach().requiresGrad_();
    leafOfItsOwn.registerHook(fail);
    return leafOfItsOwn.mul(2);
  },
  "a post-accumulate-grad hook": (x, fail) => {
    const leafOfItsOwn = x.detach().requiresGrad_();
    leafOfItsOwn.registerPostAccumulateGradHook(fail);
    return leafOfItsOwn.mul(2);
  },
  "a node's prehook": (x, fail) => {
    const y = x.mul(2);
    y.gradFn.registerPrehook(fail);
    return y;
  },
  "a node's hook": (x, fail) => {
    const y = x.mul(2);
    y.gradFn.registerHook(fail);
    return y;
  },
  "a hook of several tensors": (x, fail) => {
    const y = x.mul(2);
    graph.registerMultiGradHook([y], fail);
    return y;
  },
  "a custom backward": (x, fail) => {
    class Failing extends AutogradFunction {
      static forward(_ctx, one) {
        return one.clone();
      }
      static backward() {
        fail();
      }
    }
    return Failing.apply(x);
  },
  "an unpack hook": (x, fail) =>
    graph.savedTensorsHooks(
      (one) => one,
      fail,
      () => x.exp(),
    ),
  "a queued callback": (x, fail) => {
    const y = x.mul(2);
    y.registerHook(() => graph.queueCallback(fail));
    return y;
  },
  "a checkpointed function": (x, fail) => {
    let calls = 0;
    return checkpoint((one) => {
      if (calls++ > 0) fail();
      return one.exp();
    }, x);
  },
  "a module's backward hook": (x, fail) => {
    const module = new eg.nn.Tanh();
    module.registerFullBackwardHook(fail);
    return module.call(x);
  },
  "a hook in a nested backward": (x, fail) => {
    const y = x.mul(2);
    y.registerHook(() => {
      const inner = x.detach().requiresGrad_();
      inner.registerHook(fail);
      eg.enableGrad(() => inner.mul(3).backward());
    });
    return y;
  },
};

describe("what is thrown by", () => {
  for (const [kind, make] of Object.entries(kKinds)) {
    test(`${kind} reaches the caller as the same object, and nothing is left behind`, () => {
      // rule: thrown-object, error-reaches-caller, engine-usable-after-error
      // rule: failed-call-leaks-nothing
      const x = leaf([1]);
      for (const thrown of [new TypeError("stop"), { any: "object" }, undefined, 7]) {
        const fail = () => {
          throw thrown;
        };
        assertFlat(
          () => {
            const y = make(x, fail);
            let caught = "nothing";
            try {
              y.backward();
            } catch (error) {
              caught = error;
            }
            assert.equal(caught, thrown);
          },
          { times: 5 },
        );
      }
      x.grad = null;
      x.mul(x).backward();
      assertTensor(x.grad, [2]);
    });
  }

  test("a hook that is caught inside another hook stays there", () => {
    const x = leaf([1]);
    const caught = [];
    x.registerHook((grad) => {
      const inner = leaf([1]);
      inner.registerHook(() => {
        throw new Error("inner");
      });
      try {
        eg.enableGrad(() => inner.mul(1).backward());
      } catch (error) {
        caught.push(error.message);
      }
      return grad.mul(5);
    });
    x.mul(1).backward();
    assert.deepEqual(caught, ["inner"]);
    assertTensor(x.grad, [5]);
  });

  test("the deepest of 100 nested calls comes up through all of them", () => {
    // rule: nested-error, deep-nesting, thrown-object
    const error = new Error("at the bottom");
    class Deep extends AutogradFunction {
      static forward(ctx, x, depth, fail) {
        ctx.depth = depth;
        ctx.fail = fail;
        return x.clone();
      }
      static backward({ depth, fail }, gradient) {
        if (depth === 0 && fail) throw error;
        if (depth > 0) {
          const x = leaf([1]);
          eg.enableGrad(() => Deep.apply(x, depth - 1, fail).backward());
          gradient.add_(x.grad);
        }
        return [gradient, null, null];
      }
    }
    const x = leaf([1]);
    assert.throws(
      () => Deep.apply(x, 100, true).backward(),
      (thrown) => thrown === error,
    );
    assert.equal(x.grad, null);
    Deep.apply(x, 100, false).backward();
    assertTensor(x.grad, [101]);
  });

  test("the engine in a hook keeps its code", () => {
    const x = leaf([1]);
    x.registerHook(() => eg.ones([2]).add(eg.ones([3])));
    assert.throws(() => x.mul(1).backward(), { code: "ShapeMismatch" });
  });
});

describe("memory", () => {
  test("is flat over 10,000 failing calls", () => {
    // rule: failed-call-leaks-nothing
    const x = leaf([1]);
    const handle = x.registerHook(() => {
      throw new Error("stop");
    });
    assertFlat(
      () => {
        assert.throws(() => x.exp().backward(), /stop/);
      },
      { times: 10_000 },
    );
    handle.remove();
  });
});
