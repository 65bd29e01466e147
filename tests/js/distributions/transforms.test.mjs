// Transforms of shapes, of parts, and to constraints.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-9, atol: 1e-9 };

describe("transforms of shapes and of parts", () => {
  const x = double([
    [0.5, 1.5, 2],
    [1, 0.25, 3],
  ]);

  test("ReshapeTransform", () => {
    const transform = new d.ReshapeTransform([3], [3, 1]);
    const y = transform.call(x);
    assert.deepEqual(y.shape, [2, 3, 1]);
    assert.deepEqual(transform.inverse(y).shape, [2, 3]);
    assertTensor(transform.logAbsDetJacobian(x, y), [0, 0]);
    assert.deepEqual(transform.inverseShape([5, 3, 1]), [5, 3]);
    const it = new d.TransformedDistribution(new d.Normal(double([0, 1, 2]), 1), [transform]);
    assert.deepEqual([...it.eventShape], [3, 1]);
    assertTensor(it.logProb(y), new d.Normal(double([0, 1, 2]), 1).logProb(x).sum(1).dataSync());
    assertThrows(
      () => new d.ReshapeTransform([3], [2]),
      "ShapeMismatch",
      /inShape and outShape .* \[3\] and \[2\]/,
    );
    assertThrows(() => transform.call(double([1, 2])), "ShapeMismatch", /expected shape .* got/);
  });

  test("IndependentTransform sums the factors of the last dimensions", () => {
    const transform = new d.IndependentTransform(new d.ExpTransform(), 1);
    const y = transform.call(x);
    assertTensor(y, x.exp().dataSync());
    assertTensor(transform.logAbsDetJacobian(x, y), [4, 4.25]);
    assert.equal(transform.codomain.eventDim, 1);
    assertTensor(transform.inv.call(y), x.dataSync(), kDouble);
    assert.ok(transform.equals(new d.IndependentTransform(new d.ExpTransform(), 1)));
    assert.equal(String(transform), "IndependentTransform(ExpTransform(), 1)");
    assertThrows(
      () => transform.call(double(1)),
      "ShapeMismatch",
      /at least \d+ dimensions, got 0/,
    );
  });

  test("CatTransform and StackTransform", () => {
    const parts = [new d.ExpTransform(), new d.AffineTransform(1, 2)];
    const cat = new d.CatTransform(parts, 1, [1, 2]);
    const y = cat.call(x);
    const [e, f] = [Math.exp(0.5), Math.exp(1)];
    assertTensor(y, [e, 4, 5, f, 1.5, 7], kDouble);
    assertTensor(cat.inverse(y), x.dataSync(), kDouble);
    const log2 = Math.log(2);
    assertTensor(cat.logAbsDetJacobian(x, y), [0.5, log2, log2, 1, log2, log2], kDouble);
    assert.deepEqual([...cat.codomain.check(y.neg()).dataSync()], [0, 1, 1, 0, 1, 1]);
    const stack = new d.StackTransform(parts, { dim: 0 });
    const z = stack.call(x);
    assertTensor(z, [Math.exp(0.5), Math.exp(1.5), Math.exp(2), 3, 1.5, 7], kDouble);
    assertTensor(stack.inverse(z), x.dataSync(), kDouble);
    assertTensor(stack.logAbsDetJacobian(x, z), [0.5, 1.5, 2, log2, log2, log2], kDouble);
    assert.deepEqual([...stack.domain.check(x).dataSync()], [1, 1, 1, 1, 1, 1]);
    // If the parts form one vector, there is one log determinant.
    const vectors = new d.CatTransform([new d.StickBreakingTransform()], -1, [3]);
    assert.throws(() => vectors.logAbsDetJacobian(x, vectors.call(x)), { code: "ShapeMismatch" });
    assertThrows(() => cat.call(x.t()), "ShapeMismatch", /expected 3 elements along dim 1/);
    assertThrows(() => new d.CatTransform(parts, 0, [1]), "InvalidArgument", /one for each of 2/);
  });

  test("CumulativeDistributionTransform maps samples to uniform numbers", () => {
    const normal = new d.Normal(double(0), 1);
    const transform = new d.CumulativeDistributionTransform(normal);
    const y = transform.call(x);
    assertTensor(y, normal.cdf(x).dataSync());
    assertTensor(transform.inverse(y), x.dataSync(), kDouble);
    assertTensor(transform.logAbsDetJacobian(x, y), normal.logProb(x).dataSync());
    const even = new d.TransformedDistribution(normal, transform);
    assertTensor(even.logProb(double([0.2, 0.7])), [0, 0], { atol: 1e-9 });
  });

  test("PositiveDefiniteTransform and the Cholesky transforms", () => {
    const matrix = double([
      [0.3, 7],
      [0.5, -0.2],
    ]);
    const transform = new d.PositiveDefiniteTransform();
    const y = transform.call(matrix);
    assert.equal(d.constraints.positiveDefinite.check(y).item(), true);
    assertTensor(transform.inverse(y), [0.3, 0, 0.5, -0.2], kDouble);
    assertThrows(
      () => new d.CorrCholeskyTransform().call(double([1, 2])),
      "ShapeMismatch",
      /n \(n - 1\) \/ 2 elements/,
    );
  });
});

describe("transforms to constraints", () => {
  const { constraints: c, bijectTo, transformTo } = d;
  const numbers = double([-1.5, 0.2, 2, -0.4]);
  const square = numbers.reshape([2, 2]);
  const kFamilies = {
    real: [c.real, numbers],
    positive: [c.positive, numbers],
    nonnegative: [c.nonnegative, numbers],
    greaterThan: [c.greaterThan(2), numbers],
    greaterThanEq: [c.greaterThanEq(double([-1, 0, 1, 2])), numbers],
    lessThan: [c.lessThan(-3), numbers],
    interval: [c.interval(-1, double(2)), numbers],
    halfOpenInterval: [c.halfOpenInterval(1, 2), numbers],
    unitInterval: [c.unitInterval, numbers],
    realVector: [c.realVector, numbers],
    simplex: [c.simplex, numbers],
    independent: [c.independent(c.positive, 1), square],
    corrCholesky: [c.corrCholesky, numbers.narrow(0, 0, 3)],
    cat: [c.cat([c.positive, c.unitInterval], 0, [1, 3]), numbers],
    stack: [c.stack([c.positive, c.lessThan(0)], -1), square],
  };
  const kMatrices = {
    lowerCholesky: [c.lowerCholesky, square],
    positiveDefinite: [c.positiveDefinite, square],
    positiveSemidefinite: [c.positiveSemidefinite, square],
  };

  for (const [name, [constraint, x]] of Object.entries({ ...kFamilies, ...kMatrices })) {
    test(`${name}: the transforms map into the constraint`, () => {
      const y = transformTo(constraint).call(x);
      assert.equal(constraint.check(y).all().item(), true);
      if (name in kMatrices) {
        assertThrows(
          () => bijectTo(constraint),
          "InvalidArgument",
          /no transform to the constraint/,
        );
        return;
      }
      const bijection = bijectTo(constraint);
      const there = bijection.call(x);
      assert.equal(constraint.check(there).all().item(), true);
      assertTensor(bijection.inverse(there), x.dataSync(), kDouble);
      assert.equal(bijection.bijective, true);
    });
  }

  test("have the same values as in PyTorch", () => {
    const between = transformTo(c.interval(1, 5));
    assertTensor(between.call(double([0, 1])), [3, 3.924234314520019], kDouble);
    const vectors = bijectTo(c.independent(c.greaterThan(1), 1));
    const y = vectors.call(double([0, 1]));
    assertTensor(y, [2, 1 + Math.E], kDouble);
    assertTensor(vectors.logAbsDetJacobian(double([0, 1]), y), [1], kDouble);
    const rows = transformTo(c.simplex).call(double([0, Math.log(3)]));
    assertTensor(rows, [0.25, 0.75], kDouble);
  });

  test("more can be registered", () => {
    class Even extends c.positive.constructor {}
    const even = new Even("even", (value) => value.remainder(2).eq(0));
    assertThrows(() => transformTo(even), "InvalidArgument", /no transform to the constraint even/);
    transformTo.register(even, () => new d.AffineTransform(0, 2));
    assertTensor(transformTo(even).call(double([3])), [6]);
    assertThrows(() => bijectTo(even), "InvalidArgument", /^\[bijectTo\]/);
    assertThrows(() => transformTo(3), "InvalidArgument", /constraint: expected a constraint/);
    assertThrows(() => bijectTo.register(even, 3), "InvalidArgument", /factory/);
  });
});
