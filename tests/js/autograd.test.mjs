// Gradients, modes and hooks through the package; the engine itself is tested in C++.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "./support/assert.mjs";
import { eg } from "./support/engine.mjs";

const leaf = (data) => eg.tensor(data, { requiresGrad: true });

describe("backward", () => {
  test("adds up in the leaves", () => {
    const x = leaf([1, 2, 3]);
    x.mul(x).sum().backward();
    assertTensor(x.grad, [2, 4, 6]);
    x.mul(2).sum().backward();
    assertTensor(x.grad, [4, 6, 8]);
    x.grad = null;
    assert.equal(x.grad, null);
  });

  test("takes a gradient, options and inputs", () => {
    const x = leaf([1, 2]);
    const y = leaf([3, 4]);
    const z = x.mul(y);
    z.backward(eg.tensor([1, 10]), { retainGraph: true, inputs: [x] });
    assertTensor(x.grad, [3, 40]);
    assert.equal(y.grad, null);
    z.backward(eg.tensor([1, 1]));
    assertTensor(y.grad, [1, 2]);
  });

  test("fails as PyTorch does", () => {
    const x = leaf([1, 2]);
    assertThrows(() => x.mul(2).backward(), "NonScalarBackward", /only for scalar outputs/);
    assertThrows(() => eg.ones([1]).backward(), "NoGradPath", /does not require grad/);
    const y = x.mul(x).sum();
    y.backward();
    assertThrows(() => y.backward(), "GraphFreed", /a second time/);
    const saved = leaf([1, 2]);
    const squared = saved.mul(1);
    const product = squared.mul(squared);
    squared.add_(1);
    assertThrows(
      () => product.sum().backward(),
      "ModifiedInPlace",
      /modified by an inplace operation/,
    );
    assertThrows(() => x.add_(1), "LeafInPlace", /a leaf Variable that requires grad/);
    assertThrows(() => eg.tensor([1n]).requiresGrad_(), "NotDifferentiable");
  });
});

describe("autograd.grad", () => {
  test("returns gradients and leaves .grad alone", () => {
    const x = leaf([3]);
    const y = leaf([4]);
    const [gx, gy] = eg.autograd.grad(x.mul(y), [x, y]);
    assertTensor(gx, [4]);
    assertTensor(gy, [3]);
    assert.equal(x.grad, null);
  });

  test("differentiates its own result", () => {
    const x = leaf([2]);
    const [first] = eg.autograd.grad(x.mul(x).mul(x), x, { createGraph: true });
    const [second] = eg.autograd.grad(first, x);
    assertTensor(first, [12]);
    assertTensor(second, [12]);
  });

  test("treats unused inputs as asked", () => {
    const x = leaf([1]);
    const unused = leaf([[1, 2]]);
    const y = () => x.mul(2);
    assertThrows(() => eg.autograd.grad(y(), [unused]), "UnusedInput", /not have been used/);
    assert.deepEqual(eg.autograd.grad(y(), [unused], { allowUnused: true }), [null]);
    const [zeros] = eg.autograd.grad(y(), [unused], { materializeGrads: true });
    assertTensor(zeros, [0, 0], { shape: [1, 2] });
  });

  test("backward() takes several tensors", () => {
    const x = leaf([1, 2]);
    eg.autograd.backward([x.mul(2), x.sum()], { gradTensors: [eg.tensor([1, 1]), null] });
    assertTensor(x.grad, [3, 3]);
    assertThrows(
      () => eg.autograd.backward([x.sum()], { gradTensors: [null, null] }),
      "InvalidArgument",
      /1 tensors and 2 gradients/,
    );
  });
});

describe("modes", () => {
  test("hold for a function and come back, also after an error", () => {
    const x = leaf([1]);
    assert.equal(eg.noGrad(() => x.mul(2)).requiresGrad, false);
    assert.equal(eg.noGrad(() => eg.enableGrad(() => x.mul(2))).requiresGrad, true);
    assert.equal(
      eg.setGradEnabled(false, () => eg.isGradEnabled()),
      false,
    );
    assert.throws(() =>
      eg.noGrad(() => {
        throw new Error("stop");
      }),
    );
    assert.equal(eg.isGradEnabled(), true);
  });

  test("are guards for `using`", () => {
    const guard = eg.noGrad();
    assert.equal(eg.isGradEnabled(), false);
    guard[Symbol.dispose]();
    assert.equal(eg.isGradEnabled(), true);
  });

  test("refuse a function that returns a promise", () => {
    assertThrows(() => eg.noGrad(async () => 1), "InvalidArgument", /promise/);
    assertThrows(() => eg.noGrad(() => Promise.reject(new Error("unseen"))), "InvalidArgument");
    assert.equal(eg.isGradEnabled(), true);
  });
});

describe("hooks", () => {
  test("see the gradient and may replace it", () => {
    const x = leaf([1, 2]);
    const seen = [];
    x.registerHook((grad) => {
      seen.push(grad.arraySync());
    });
    x.registerHook((grad) => grad.mul(10));
    x.mul(3).sum().backward();
    assert.deepEqual(seen, [[3, 3]]);
    assertTensor(x.grad, [30, 30]);
  });

  test("can be removed", () => {
    const x = leaf([1]);
    const hook = x.registerHook((grad) => grad.mul(10));
    hook.remove();
    hook.remove();
    x.mul(3).backward();
    assertTensor(x.grad, [3]);
  });

  test("leave no handles behind, neither at work nor removed", () => {
    const x = leaf([1]);
    const hook = x.registerHook(() => {});
    const run = () => eg.scope(() => x.mul(3).backward());
    run();
    const { jsHandles } = eg.memory();
    run();
    hook.remove();
    run();
    assert.equal(eg.memory().jsHandles, jsHandles);
  });

  test("need a tensor that requires a gradient", () => {
    assert.throws(() => eg.ones([1]).registerHook(() => {}), /require/);
  });

  test("throw their own error object out of backward()", () => {
    const x = leaf([1]);
    const failure = { reason: "no" };
    x.registerHook(() => {
      throw failure;
    });
    assert.throws(
      () => x.mul(3).backward(),
      (error) => error === failure,
    );
  });

  test("may call backward themselves", () => {
    const x = leaf([2]);
    const y = leaf([5]);
    x.registerHook((grad) => {
      // Nothing is recorded during backward() unless asked for.
      eg.enableGrad(() => y.mul(grad).backward());
    });
    x.mul(3).backward();
    assertTensor(y.grad, [3]);
  });

  test("refuse what is neither a function nor a tensor", () => {
    const x = leaf([1]);
    assertThrows(() => x.registerHook(3), "InvalidArgument", /function/);
    x.registerHook(() => "no");
    assertThrows(() => x.mul(1).backward(), "InvalidGradient");
  });
});

describe("a tensor's history", () => {
  test("shows in its properties", () => {
    const x = leaf([[1, 2]]);
    const y = x.mul(2);
    assert.equal(x.isLeaf, true);
    assert.equal(x.gradFn, null);
    assert.equal(y.isLeaf, false);
    assert.equal(y.gradFn.name, "MulBackward0");
    assert.equal(y.outputNr, 0);
    const view = y.reshape(2);
    assert.equal(view.isView, true);
    assert.deepEqual(view.base.shape, [1, 2]);
    assert.equal(y.base, null);
    const { version } = y;
    y.add_(1);
    assert.equal(y.version, version + 1);
    assert.equal(view.version, version + 1);
    assert.equal(x.detach().requiresGrad, false);
  });
});
