// autograd.grad() inside vmap(): of tensors from outside, with gradients of the outputs that differ by sample.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { grad } = eg.autograd;
const { vmap } = eg.func;
const leaf = (data) => eg.tensor(data, { dtype: "float64", requiresGrad: true });
const rows = () =>
  eg.tensor(
    [
      [1, 0],
      [0, 1],
      [2, 3],
    ],
    { dtype: "float64" },
  );

describe("autograd.grad() inside vmap()", () => {
  test("gives every sample its gradients", () => {
    const [a, b] = [leaf([2, 3]), leaf([5, 7])];
    const y = a.mul(b).mul(a);
    const pull = (v) => grad(y, [a, b], v, { retainGraph: true });
    const [ofA, ofB] = vmap(pull)(rows());
    assertTensor(ofA, [20, 0, 0, 42, 40, 126], { shape: [3, 2] });
    assertTensor(ofB, [4, 0, 0, 9, 8, 27], { shape: [3, 2] });
  });

  test("takes gradients that are the same for all samples, and none, beside those that differ", () => {
    const x = leaf([2, 3]);
    const outputs = [x.mul(x), x.mul(10), x.sum()];
    const same = eg.tensor([1, 0], { dtype: "float64" });
    const [first] = vmap((v) => grad(outputs, x, [v, same, null]))(rows());
    assertTensor(first, [4 + 10 + 1, 1, 11, 7, 8 + 11, 19], { shape: [3, 2] });
    const [alone] = vmap((v) => [grad(x.mul(x), x, same)[0].mul(v)])(rows());
    assertTensor(alone, [4, 0, 0, 0, 8, 0]);
  });

  test("works in nested levels, and with batches of each sample", () => {
    const x = leaf([2, 3]);
    const y = x.pow(2);
    const weights = rows()
      .unsqueeze(1)
      .mul(eg.tensor([[1], [10]], { dtype: "float64" }));
    const expected = [4, 0, 40, 0, 0, 6, 0, 60, 8, 18, 80, 180];
    const pull = (v) => grad(y, x, v, { retainGraph: true })[0];
    assertTensor(vmap(vmap(pull))(weights), expected, { shape: [3, 2, 2] });
    const pullRows = (v) => grad(y, x, v, { retainGraph: true, isGradsBatched: true })[0];
    assertTensor(vmap(pullRows)(weights), expected, { shape: [3, 2, 2] });
    const outer = (v) => vmap((w) => pull(v).mul(w))(weights.select(1, 0));
    assert.deepEqual(vmap(outer)(rows()).shape, [3, 3, 2]);
  });

  test("treats inputs that are not used as outside", () => {
    const [x, unused] = [leaf([2, 3]), leaf([1])];
    const y = x.mul(x);
    const call = (options) =>
      vmap((v) => {
        const [a, b] = grad(y, [x, unused], v, { retainGraph: true, ...options });
        return b === null ? a : [a, b];
      })(rows());
    assert.deepEqual(call({ allowUnused: true }).shape, [3, 2]);
    assertTensor(call({ materializeGrads: true })[1], [0, 0, 0], { shape: [3, 1] });
    assertThrows(() => call({}), "UnusedInput");
    assertThrows(() => call({ allowUnused: false, materializeGrads: true }), "UnusedInput");
  });

  test("differentiates the gradients again", () => {
    const x = leaf([2, 3]);
    const y = x.pow(3);
    const ofRows = vmap((v) => grad(y, x, v, { createGraph: true })[0])(rows());
    assertTensor(grad(ofRows.sum(), x)[0], [36, 72]);
  });

  test("refuses tensors that are batches themselves, with the way to their gradients", () => {
    const x = leaf([[2, 3]]);
    const inside = () => vmap((row) => grad(row.mul(row), row, row)[0])(x);
    assertThrows(inside, "InvalidArgument", /eg\.func\.grad\(\)/);
  });
});
