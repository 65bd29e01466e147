// autograd.Function: forward and backward in JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

const { Function: AutogradFunction, grad } = eg.autograd;

class Combine extends AutogradFunction {
  static forward(ctx, x, k, y) {
    ctx.saveForBackward(x, y);
    ctx.k = k;
    return x.add(y.mul(k)).add(x.mul(y));
  }

  static backward(ctx, grad) {
    const [x, y] = ctx.savedTensors;
    return [grad.add(grad.mul(y)), null, grad.mul(ctx.k).add(grad.mul(x))];
  }
}

class Identity extends AutogradFunction {
  static forward(_ctx, x) {
    return x.clone();
  }

  static backward(_ctx, grad) {
    return grad;
  }
}

/** Returns a Function of one tensor with the given methods. */
function functionOf(forward, backward = (_ctx, ...grads) => grads) {
  return class F extends AutogradFunction {
    static forward(ctx, ...args) {
      return forward(ctx, ...args);
    }
    static backward(ctx, ...grads) {
      return backward(ctx, ...grads);
    }
  };
}

describe("a Function", () => {
  test("computes, saves and differentiates, also twice", () => {
    // rule: function-other-values, function-differentiates-twice
    const [x, y] = [leaf(3), leaf(5)];
    const out = Combine.apply(x, 2, y);
    assertTensor(out, [28]);
    assert.equal(out.gradFn.name, "CombineBackward");
    assert.equal(
      eg.autograd.gradcheck((a, b) => Combine.apply(a, 2, b), doubles(3, 5)),
      true,
    );
    assert.equal(
      eg.autograd.gradgradcheck((a, b) => Combine.apply(a, 2, b), doubles(3, 5)),
      true,
    );
    const [gx, gy] = grad(out, [x, y], { createGraph: true });
    assertTensor(gx, [6]);
    assertTensor(gy, [5]);
    assert.ok(gx.gradFn !== null && gy.gradFn !== null);
    assertTensor(grad(gx, y)[0], [1]);
  });

  test("runs forward without recording and backward in the mode of createGraph", () => {
    // rule: function-records, function-backward-mode
    const modes = [];
    const F = functionOf(
      (_ctx, x) => {
        modes.push(eg.isGradEnabled());
        return x.mul(2);
      },
      (_ctx, grad) => {
        modes.push(eg.isGradEnabled());
        return grad.mul(2);
      },
    );
    const x = leaf([1]);
    const y = F.apply(x);
    y.backward(null, { retainGraph: true });
    y.backward(null, { createGraph: true });
    assert.deepEqual(modes, [false, false, true]);
  });

  test("is not recorded without need", () => {
    // rule: function-records
    assert.equal(eg.noGrad(() => Identity.apply(leaf([1]))).gradFn, null);
    assert.equal(Identity.apply(eg.ones([1])).gradFn, null);
  });

  test("without a gradient to give leaves none", () => {
    // rule: function-returns-nothing
    const Nothing = functionOf(
      (_ctx, x) => x.clone(),
      () => null,
    );
    for (const make of [(x) => Nothing.apply(x), (x) => Nothing.apply(x.mul(x))]) {
      const x = leaf([2]);
      make(x).backward();
      assert.equal(x.grad, null);
    }
    const x = leaf([2]);
    assert.deepEqual(grad(Nothing.apply(x), x, { allowUnused: true }), [null]);
    const Void = functionOf(
      (_ctx, x) => x.clone(),
      () => {},
    );
    Void.apply(x).backward();
    assert.equal(x.grad, null);
  });

  test("gets zeros for missing gradients, or null when it asks for that", () => {
    // rule: function-materializes
    for (const materialize of [true, false]) {
      const seen = [];
      const F = functionOf(
        (ctx, x) => {
          if (!materialize) ctx.setMaterializeGrads(false);
          return [x.mul(1), x.mul(2)];
        },
        (_ctx, a, b) => {
          seen.push([a, b].map((one) => one && values(one)));
          return b ?? a;
        },
      );
      const [first] = F.apply(leaf([1]));
      first.backward();
      assert.deepEqual(seen, [[[1], materialize ? [0] : null]]);
    }
  });

  test("takes and returns what is no tensor", () => {
    // rule: function-other-values
    const F = functionOf(
      (_ctx, text, x, list) => [text.length, x.mul(list[0]), null],
      (_ctx, _length, grad) => [null, grad.mul(3), null, null, null],
    );
    const x = leaf([2]);
    const [length, y, nothing] = F.apply("four", x, [5]);
    assert.deepEqual([length, nothing], [4, null]);
    y.backward();
    assertTensor(x.grad, [3]);
  });

  test("must return as many gradients as arguments, of tensors, for tensors", () => {
    // rule: function-gradient-count, function-other-values
    const withBackward = (backward) => {
      const F = functionOf((_ctx, x) => x.clone(), backward);
      return () => F.apply(leaf([1])).backward();
    };
    assertThrows(
      withBackward((_ctx, grad) => [grad, grad]),
      "InvalidGradient",
      /FBackward returned 2 gradients, expected 1/,
    );
    assertThrows(
      withBackward(() => "text"),
      "InvalidGradient",
      /a tensor or null for argument 0, got "text"/,
    );
    const G = functionOf(
      (_ctx, x, k) => x.mul(k),
      (_ctx, grad) => [grad, grad],
    );
    assertThrows(
      () => G.apply(leaf([1]), 2).backward(),
      "InvalidGradient",
      /a gradient for argument 2 of forward, which is not a tensor/,
    );
  });

  test("has gradients of the wrong shape refused, and of another precision cast", () => {
    // rule: gradient-wrong-shape, gradient-cast, gradient-complex-for-real
    const Wrong = functionOf(
      (_ctx, x) => x.clone(),
      () => eg.ones([10]),
    );
    assertThrows(
      () =>
        Wrong.apply(leaf(eg.ones([5, 5]).arraySync()))
          .sum()
          .backward(),
      "InvalidGradient",
      /gradient 0 returned by FBackward has shape \[10\], expected \[5, 5\]/,
    );
    const Double = functionOf(
      (_ctx, x) => x.clone(),
      (_ctx, grad) => grad.to("float64"),
    );
    const x = leaf([1, 2]);
    Double.apply(x).sum().backward();
    assert.equal(x.grad.dtype, "float32");
    const Real = functionOf(
      (_ctx, z) => z.clone(),
      (_ctx, grad) => grad.real(),
    );
    const z = eg.tensor([{ re: 3, im: 4 }], { dtype: "complex64", requiresGrad: true });
    Real.apply(z).abs().sum().backward();
    assert.equal(z.grad.dtype, "complex64");
    assertTensor(z.grad.real(), [0.6]);
    assertTensor(z.grad.imag(), [0]);
  });

  test("frees what it saved with the graph", () => {
    // rule: function-saves, saved-freed
    let kept;
    const Saving = functionOf(
      (ctx, x) => {
        kept = ctx;
        ctx.saveForBackward(x, null);
        return x.mul(2);
      },
      (ctx, grad) => {
        assert.equal(ctx.savedTensors[1], null);
        return grad.mul(2);
      },
    );
    const x = leaf([1]);
    const y = Saving.apply(x);
    assertTensor(kept.savedTensors[0], [1]);
    y.backward();
    assertThrows(() => kept.savedTensors, "GraphFreed", /have been freed/);
    y.dispose();
    assertThrows(() => kept.savedTensors, "GraphFreed");
  });

  test("notices that what it saved was changed", () => {
    // rule: function-saves
    const x = leaf([1]);
    const y = x.mul(1);
    const out = Combine.apply(y, 1, y);
    y.add_(1);
    assertThrows(() => out.backward(), "ModifiedInPlace", /needs was changed in place/);
  });

  test("knows which gradients are wanted", () => {
    // rule: function-needs-input-grad
    const asked = [];
    const F = functionOf(
      (ctx, ...args) => {
        asked.push(ctx.needsInputGrad);
        return args[0].mul(args[1]);
      },
      (ctx, grad) => {
        asked.push(ctx.needsInputGrad);
        return [grad, grad, null];
      },
    );
    const [a, b] = [leaf([1]), leaf([2])];
    const y = F.apply(a, b, "c");
    y.backward(null, { inputs: [b] });
    assert.deepEqual(asked, [
      [true, true, false],
      [false, true, false],
    ]);
    F.apply(a, eg.ones([1]), 1);
    assert.deepEqual(asked[2], [true, false, false]);
  });

  test("marked onceDifferentiable refuses a second derivative", () => {
    // rule: function-once-differentiable
    class Once extends Identity {
      static onceDifferentiable = true;
    }
    const x = leaf([2]);
    const [g] = grad(Once.apply(x.mul(x)), x, { createGraph: true });
    assertTensor(g, [4]);
    assert.throws(() => g.backward(), /onceDifferentiable cannot be differentiated again/);
  });

  test("without forward or backward says so", () => {
    // rule: function-missing-methods
    assertThrows(
      () => class extends AutogradFunction {}.apply(1),
      "InvalidArgument",
      /no static method forward/,
    );
    class NoBackward extends AutogradFunction {
      static forward(_ctx, x) {
        return x.clone();
      }
    }
    const y = NoBackward.apply(leaf([1]));
    assertThrows(() => y.backward(), "NotDifferentiable", /no static method backward/);
  });
});

describe("what a Function returns", () => {
  test("may be an argument it has changed in place and marked dirty", () => {
    // rule: function-dirty, function-dirty-refused
    const Double = functionOf(
      (ctx, x) => {
        x.mul_(2);
        ctx.markDirty(x);
        return x;
      },
      (_ctx, grad) => grad.mul(2),
    );
    const x = leaf([1, 2]);
    const y = x.clone();
    const version = y.version;
    const out = Double.apply(y);
    assert.equal(out, y);
    assert.equal(y.gradFn.name, "FBackward");
    assert.ok(y.version > version);
    y.sum().backward();
    assertTensor(x.grad, [2, 2]);
    assertThrows(() => Double.apply(x), "LeafInPlace", /a leaf that requires a gradient/);
    const Forgetful = functionOf((ctx, one) => {
      ctx.markDirty(one);
      return one.clone();
    });
    assertThrows(
      () => Forgetful.apply(leaf([1]).clone()),
      "InvalidArgument",
      /return every tensor passed to ctx\.markDirty\(\)/,
    );
  });

  test("may be an argument as it is, which then becomes a view of it", () => {
    // rule: function-returns-argument, function-view-restricted
    const Same = functionOf(
      (_ctx, x) => x,
      (_ctx, grad) => grad.mul(10),
    );
    const x = leaf([1]);
    const y = Same.apply(x);
    assert.notEqual(y, x);
    assert.equal(x.gradFn, null);
    y.backward();
    assertTensor(x.grad, [10]);
    assertThrows(() => Same.apply(x.clone()).add_(1), "ViewInPlace", /a custom Function made it/i);
  });

  test("may be marked as without a gradient", () => {
    // rule: function-non-differentiable
    const Sort = functionOf(
      (ctx, x) => {
        const largest = x.argmax();
        const sign = x.sign();
        ctx.markNonDifferentiable(sign);
        return [x.mul(2), sign, largest];
      },
      (_ctx, grad, sign, largest) => {
        assert.deepEqual([values(sign), values(largest)], [[0, 0], [0]]);
        return grad.mul(2);
      },
    );
    const x = leaf([-1, 2]);
    const [y, sign, largest] = Sort.apply(x);
    assert.deepEqual(
      [y, sign, largest].map((one) => one.requiresGrad),
      [true, false, false],
    );
    y.sum().backward();
    assertTensor(x.grad, [2, 2]);
  });

  test("may be the same tensor twice", () => {
    // rule: function-same-result-twice
    const Twice = functionOf(
      (_ctx, x) => {
        const y = x.mul(2);
        return [y, y];
      },
      (_ctx, a, b) => a.add(b),
    );
    const x = leaf([1]);
    const [a, b] = Twice.apply(x);
    assert.equal(a, b);
    a.backward();
    assertTensor(x.grad, [1]);
  });
});

describe("a Function's memory", () => {
  test("goes with the graph: context, saved output and all", () => {
    // rule: function-context-memory
    const Exp = functionOf(
      (ctx, x) => {
        const y = x.exp();
        ctx.saveForBackward(y);
        return y;
      },
      (ctx, grad) => grad.mul(ctx.savedTensors[0]),
    );
    const x = leaf([0, 1]);
    assertFlat((i) => {
      const y = Exp.apply(x);
      if (i % 2 === 0) y.sum().backward();
      x.grad = null;
    });
  });
});

function doubles(...data) {
  return data.map((value) => leaf([value], { dtype: "float64" }));
}
