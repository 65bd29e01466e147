// In-place forms of ops that are not elementwise.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

describe("in-place forms", () => {
  test("write their result over the tensor and return it", () => {
    const x = eg.tensor([
      [1, 2],
      [3, 4],
    ]);
    assert.equal(x.cumsum_(0), x);
    assertTensor(x, [1, 2, 4, 6]);
    assert.equal(x.version, 1);
    assertTensor(x.triu_(), [1, 2, 0, 6]);
    assertTensor(x.fillDiagonal_(9), [9, 2, 0, 9]);
    const index = eg.tensor([1], { dtype: "int64" });
    assertTensor(eg.indexAdd_(x, 0, index, eg.tensor([[1, 1]]), { alpha: 2 }), [9, 2, 2, 11]);
    assertTensor(x.addmm_(eg.eye(2), eg.ones([2, 2]), { beta: 0 }), [1, 1, 1, 1]);
    assertTensor(x.lt_(1), [0, 0, 0, 0]);
    assert.equal(x.dtype, "float32");
  });

  test("that are views change the tensor's own shape", () => {
    const x = eg.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    assert.equal(x.t_(), x);
    assert.deepEqual(x.shape, [3, 2]);
    assert.deepEqual(x.strides, [1, 3]);
    assertTensor(x.unsqueeze_(0).transpose_(0, 2), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(x.shape, [2, 3, 1]);
    assert.deepEqual(x.squeeze_(-1).shape, [2, 3]);
  });

  test("belong to the graph, and leaves refuse them", () => {
    const leaf = eg.tensor([1, 2, 3], { requiresGrad: true });
    const x = leaf.mul(2);
    x.cumprod_(0);
    assert.equal(x.gradFn.name, "CumprodBackward0");
    x.sum().backward();
    // d/dx of 2a + 4ab + 8abc.
    assertTensor(leaf.grad, [2 + 8 + 48, 4 + 24, 16]);
    assertThrows(() => leaf.cumsum_(0), "LeafInPlace", /a leaf that requires a gradient/);
    assertThrows(() => leaf.unsqueeze_(0), "LeafInPlace", /a leaf that requires a gradient/);
  });
});
