// Gradients through the package; the engine itself is tested in C++.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

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
    // rule: backward-inputs, retain-graph
    z.backward(eg.tensor([1, 10]), { retainGraph: true, inputs: [x] });
    assertTensor(x.grad, [3, 40]);
    assert.equal(y.grad, null);
    z.backward(eg.tensor([1, 1]));
    assertTensor(y.grad, [1, 2]);
  });

  test("fails as PyTorch does", () => {
    const x = leaf([1, 2]);
    assertThrows(() => x.mul(2).backward(), "NonScalarBackward", /shape .* needs a gradient/);
    assertThrows(() => eg.ones([1]).backward(), "NoGradPath", /does not require a gradient/);
    const y = x.mul(x).sum();
    y.backward();
    assertThrows(() => y.backward(), "GraphFreed", /retainGraph: true/);
    const saved = leaf([1, 2]);
    const squared = saved.mul(1);
    const product = squared.mul(squared);
    squared.add_(1);
    assertThrows(() => product.sum().backward(), "ModifiedInPlace", /needs was changed in place/);
    assertThrows(() => x.add_(1), "LeafInPlace", /a leaf that requires a gradient/);
    assertThrows(() => eg.tensor([1n]).requiresGrad_(), "NotDifferentiable");
  });
});

describe("autograd.grad", () => {
  test("returns gradients and leaves .grad alone", () => {
    // rule: grad-returns
    const x = leaf([3]);
    const y = leaf([4]);
    const [gx, gy] = eg.autograd.grad(x.mul(y), [x, y]);
    assertTensor(gx, [4]);
    assertTensor(gy, [3]);
    assert.equal(x.grad, null);
  });

  test("differentiates its own result", () => {
    // rule: create-graph
    const x = leaf([2]);
    const [first] = eg.autograd.grad(x.mul(x).mul(x), x, { createGraph: true });
    const [second] = eg.autograd.grad(first, x);
    assertTensor(first, [12]);
    assertTensor(second, [12]);
  });

  test("treats unused inputs as requested", () => {
    // rule: unused-inputs, materialize-grads
    const x = leaf([1]);
    const unused = leaf([[1, 2]]);
    const y = () => x.mul(2);
    assertThrows(
      () => eg.autograd.grad(y(), [unused]),
      "UnusedInput",
      /do not depend on input 0.*allowUnused: true/,
    );
    assert.deepEqual(eg.autograd.grad(y(), [unused], { allowUnused: true }), [null]);
    const [zeros] = eg.autograd.grad(y(), [unused], { materializeGrads: true });
    assertTensor(zeros, [0, 0], { shape: [1, 2] });
  });

  test("backward() takes several tensors", () => {
    // rule: backward-several-roots, root-gradient-count
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

describe("entry points", () => {
  test("refuse what they cannot start from", () => {
    // rule: root-requires-grad, implicit-gradient-scalar-only, root-gradient-shape
    // rule: inputs-not-empty, inputs-require-grad
    const x = leaf([1, 2]);
    assertThrows(
      () => eg.ones([1]).backward(),
      "NoGradPath",
      /tensor 0 does not require a gradient/,
    );
    assertThrows(
      () =>
        eg.autograd.backward([x.sum(), eg.ones([1]).mul(2)], {
          gradTensors: [eg.tensor(1), eg.tensor([1])],
        }),
      "NoGradPath",
      /tensor 1 does not require a gradient/,
    );
    assertThrows(
      () => eg.autograd.grad(x.sum(), []),
      "InvalidArgument",
      /inputs must not be empty/,
    );
    assertThrows(
      () => x.sum().backward(null, { inputs: [] }),
      "InvalidArgument",
      /inputs must not be empty/,
    );
    assertThrows(
      () => eg.autograd.grad(x.sum(), eg.ones([1])),
      "NoGradPath",
      /an input does not require a gradient/,
    );
    assertThrows(
      () => x.mul(2).backward(eg.ones([3])),
      "ShapeMismatch",
      /gradient 0 has shape \[3\], but its output has shape \[2\]/,
    );
    assertThrows(() => eg.autograd.backward(3), "InvalidArgument", /expected a tensor/);
  });

  test("backward() with inputs fills those alone, results too", () => {
    // rule: backward-inputs, backward-inputs-results
    const [x, y] = scalars(1, 2);
    const z = x.mul(3);
    z.mul(2).backward(null, { inputs: [z] });
    assertTensor(z.grad, [2]);
    assert.equal(x.grad, null);
    x.mul(2).backward(null, { inputs: [y] });
    assert.deepEqual([x.grad, y.grad], [null, null]);
  });

  test("grad() accepts an input twice, and returns zeros for unused ones on request", () => {
    // rule: repeated-inputs, materialize-grads
    const x = leaf(3);
    assert.deepEqual(
      eg.autograd.grad(x.mul(x), [x, x]).map((one) => one.item()),
      [6, 6],
    );
    const unused = leaf([1, 2]);
    const [gx, zeros] = eg.autograd.grad(x.exp(), [x, unused], { materializeGrads: true });
    assertTensor(gx, [Math.E ** 3], { rtol: 1e-5 });
    assertTensor(zeros, [0, 0]);
    assert.equal(zeros.requiresGrad, true);
    assertThrows(
      () => eg.autograd.grad(x.exp(), x, { materializeGrads: true, allowUnused: false }),
      "InvalidArgument",
      /materializeGrads: true contradicts allowUnused: false/,
    );
  });

  const scalars = (...data) => data.map((value) => leaf(value));
});

describe("a result's grad", () => {
  test("is null, with one warning, unless it is retained", (t) => {
    // rule: grad-of-result-warns
    const { mock } = t.mock.method(console, "warn", () => {});
    const y = leaf([1]).mul(2);
    assert.equal(y.grad, null);
    assert.equal(y.grad, null);
    assert.equal(mock.calls.length, 1);
    assert.match(
      mock.calls[0].arguments[0],
      /grad was read from a tensor that is not a leaf.*retainGrad/,
    );
  });

  test("takes only what fits", () => {
    // rule: grad-assignment
    const x = leaf([1, 2]);
    assertThrows(
      () => {
        x.grad = x;
      },
      "InvalidArgument",
      /cannot be its own gradient/,
    );
    assertThrows(() => {
      x.grad = eg.ones([3]);
    }, "ShapeMismatch");
    assertThrows(() => {
      x.grad = eg.ones([2], { dtype: "float64" });
    }, "DtypeMismatch");
    assert.equal(x.grad, null);
  });
});

describe("a tensor's history", () => {
  test("shows in its properties", () => {
    // rule: is-leaf
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
