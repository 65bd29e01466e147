// allclose() and equal(), which compare whole tensors; max() and min() of two tensors.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

test("allclose allows a tolerance, and NaN on request", () => {
  const x = eg.tensor([1, Number.NaN]);
  const y = eg.tensor([1.000001, Number.NaN]);
  assert.equal(x.allclose(y), false);
  assert.equal(eg.allclose(x, y, { equalNan: true }), true);
  assert.equal(eg.allclose(x, y, { equalNan: true, rtol: 0, atol: 1e-9 }), false);
});

test("equal compares shapes and elements", () => {
  const x = eg.tensor([1, 2]);
  assert.equal(x.equal(eg.tensor([1, 2])), true);
  assert.equal(x.equal(eg.tensor([1, 3])), false);
  assert.equal(eg.equal(x, eg.tensor([[1, 2]])), false);
});

test("max and min take a second tensor, a dimension or nothing", () => {
  const x = eg.tensor([[1, 5]]);
  assertTensor(x.max(eg.tensor([3])), [3, 5], { shape: [1, 2] });
  assertTensor(eg.min(x, eg.tensor(2)), [1, 2]);
  assertTensor(x.max({ dim: 1 })[1], [1]);
  assertTensor(eg.max(x, 0, true)[0], [1, 5]);
  assert.equal(x.min().item(), 1);
  assertThrows(() => x.max(0.5), "InvalidArgument", /\[max\]/);
});

test("the in-place form of an op writes into its input, and is differentiated", () => {
  const leaf = eg.ones([3], { requiresGrad: true });
  const x = leaf.mul(2);
  assert.equal(x.scatter_(0, eg.tensor([1n]), 5), x);
  assertTensor(x, [2, 5, 2]);
  x.cumsum_(0).sum().backward();
  assertTensor(leaf.grad, [6, 0, 2]);
  assertThrows(() => leaf.cumprod_(0), "LeafInPlace");
});
