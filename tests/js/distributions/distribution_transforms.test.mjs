// Transforms of arrays: values as in PyTorch, shapes, constraints, gradients and errors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-9, atol: 1e-9 };

describe("transforms of arrays", () => {
  const x = double([
    [0.3, -1, 0.2, 0.5],
    [1.5, 0.4, -0.7, 2],
  ]);

  test("IndependentTransform sums the log determinants over its dimensions", () => {
    const it = new d.IndependentTransform(new d.ExpTransform(), 1);
    assertTensor(it.call(x), eg.exp(x).dataSync(), kDouble);
    assertTensor(it.inv.call(it.call(x)), x.dataSync(), kDouble);
    assertTensor(it.logAbsDetJacobian(x, it.call(x)), [0, 3.2], { shape: [2], ...kDouble });
    assert.deepEqual([it.domain.eventDim, it.codomain.eventDim, it.sign], [1, 1, 1]);
    assert.ok(it.bijective);
    assert.deepEqual([...it.forwardShape([5, 2])], [5, 2]);
    assert.ok(it.equals(new d.IndependentTransform(new d.ExpTransform(), 1)));
    assert.ok(!it.equals(new d.IndependentTransform(new d.ExpTransform(), 2)));
  });

  test("ReshapeTransform changes the shape of values and keeps their elements", () => {
    const it = new d.ReshapeTransform([4], [2, 2]);
    assert.deepEqual(it.call(x).shape, [2, 2, 2]);
    assert.deepEqual(it.inv.call(it.call(x)).tolist(), x.tolist());
    assertTensor(it.logAbsDetJacobian(x, it.call(x)), [0, 0], { shape: [2] });
    assert.deepEqual([it.domain.eventDim, it.codomain.eventDim], [1, 2]);
    assert.deepEqual([...it.inverseShape([3, 2, 2])], [3, 4]);
    assertThrows(
      () => new d.ReshapeTransform([4], [3]),
      "ShapeMismatch",
      /equally many elements, got \[4\] and \[3\]/,
    );
    assertThrows(() => it.call(eg.ones([2, 3])), "ShapeMismatch", /expected shape \[\.\.\., 4\]/);
  });

  test("CumulativeDistributionTransform is the distribution function", () => {
    const normal = new d.Normal(double([0]), double([2]));
    const it = new d.CumulativeDistributionTransform(normal);
    const values = double([-2, 0, 1]);
    const wanted = [0.15865525393145707, 0.5, 0.6914624612740131];
    assertTensor(it.call(values), wanted, kDouble);
    assertTensor(it.inv.call(it.call(values)), values.dataSync(), kDouble);
    assertTensor(it.logAbsDetJacobian(values, it.call(values)), normal.logProb(values).dataSync());
    assert.deepEqual([String(it.domain), String(it.codomain)], ["real", "unitInterval"]);
    assertThrows(() => new d.CumulativeDistributionTransform(1), "InvalidArgument", /distribution/);
  });

  test("the Cholesky transforms are differentiable, and their outputs satisfy their constraints", () => {
    const values = double([[0.3, -1, 0.2]]).requiresGrad_();
    const it = new d.CorrCholeskyTransform();
    const factor = it.call(values);
    assert.ok(it.codomain.check(factor).all().item());
    assert.ok(!it.codomain.check(factor.mul(2)).all().item());
    assert.ok(eg.autograd.gradcheck((v) => it.call(v), [values]));
    assert.ok(eg.autograd.gradcheck((v) => it.inv.call(it.call(v)), [values]));
    assert.ok(eg.autograd.gradcheck((v) => it.logAbsDetJacobian(v, it.call(v)), [values]));
    assert.deepEqual([...it.forwardShape([5, 3])], [5, 3, 3]);
    assert.deepEqual([...it.inverseShape([5, 3, 3])], [5, 3]);
    assertThrows(
      () => it.call(eg.ones([4])),
      "ShapeMismatch",
      /n \(n - 1\) \/ 2 elements .* \[4\]/,
    );
    assertThrows(
      () => it.inverseShape([2, 3]),
      "ShapeMismatch",
      /square matrices, got shape \[2,3\]/,
    );
    const lower = new d.LowerCholeskyTransform();
    assert.ok(
      lower.codomain
        .check(lower.call(eg.randn([4, 3, 3])))
        .all()
        .item(),
    );
    assert.ok(!lower.bijective);
  });

  test("a normalizing flow can use them", () => {
    const base = new d.Independent(new d.Normal(eg.zeros([4]), eg.ones([4])), 1);
    const it = new d.TransformedDistribution(base, [new d.ReshapeTransform([4], [2, 2])]);
    const drawn = it.sample([3]);
    assert.deepEqual(drawn.shape, [3, 2, 2]);
    assertTensor(it.logProb(drawn), base.logProb(drawn.reshape([3, 4])).dataSync());
  });
});
