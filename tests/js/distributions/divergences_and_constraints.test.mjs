// registerKl(), and the values that constraints allow.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("registerKl", () => {
  class Shifted extends d.Normal {}
  const plain = new d.Normal(0, 1);

  test("applies to subclasses without a more specific pair", () => {
    const shifted = new Shifted(1, 1);
    assertTensor(d.klDivergence(shifted, plain), [0.5]);
    d.registerKl(Shifted, d.Normal, () => eg.tensor(7));
    assertTensor(d.klDivergence(shifted, plain), [7]);
    assertTensor(d.klDivergence(plain, shifted), [0.5]);
    d.registerKl(Shifted, d.Normal, () => eg.tensor(8));
    assertTensor(d.klDivergence(shifted, plain), [8]);
  });

  test("reports unknown pairs and refuses values that are not classes", () => {
    assertThrows(
      () => d.klDivergence(plain, new d.Poisson(1)),
      "InvalidArgument",
      /KL\(p \|\| q\) is not known/,
    );
    assertThrows(() => d.registerKl(Map, d.Normal, () => plain.mean), "InvalidArgument", /typeP/);
  });
});

test("constraints check values", () => {
  const { constraints: c } = d;
  const x = double([-1, 0, 0.5, 1, 2, Number.NaN]);
  const kept = (constraint) => [...constraint.check(x).dataSync()];
  assert.deepEqual(kept(c.real), [1, 1, 1, 1, 1, 0]);
  assert.deepEqual(kept(c.positive), [0, 0, 1, 1, 1, 0]);
  assert.deepEqual(kept(c.nonnegativeInteger), [0, 1, 0, 1, 1, 0]);
  assert.deepEqual(kept(c.positiveInteger), [0, 0, 0, 1, 1, 0]);
  assert.deepEqual(kept(c.boolean), [0, 1, 0, 1, 0, 0]);
  assert.deepEqual(kept(c.unitInterval), [0, 1, 1, 1, 0, 0]);
  assert.deepEqual(kept(c.interval(-1, 0.5)), [1, 1, 1, 0, 0, 0]);
  assert.deepEqual(kept(c.integerInterval(-1, 1)), [1, 1, 0, 1, 0, 0]);
  assert.deepEqual(kept(c.greaterThan(0.5)), [0, 0, 0, 1, 1, 0]);
  assert.deepEqual(kept(c.greaterThanEq(0.5)), [0, 0, 1, 1, 1, 0]);
  assert.deepEqual(kept(c.halfOpenInterval(-1, 0.5)), [1, 1, 0, 0, 0, 0]);
  const matrices = double([
    [
      [1, 0],
      [0.6, 0.8],
    ],
    [
      [1, 2],
      [2, 4],
    ],
    [
      [1, 2],
      [2, 1],
    ],
  ]);
  const keptBy = (constraint) => [...constraint.check(matrices).dataSync()];
  assert.deepEqual(keptBy(c.corrCholesky), [1, 0, 0]);
  assert.deepEqual(keptBy(c.square), [1, 1, 1]);
  assert.deepEqual([...c.square.check(eg.ones([2, 2, 3])).dataSync()], [0, 0]);
  assert.deepEqual(keptBy(c.symmetric), [0, 1, 1]);
  assert.equal(c.positiveSemidefinite.check(matrices.at(1).add(eg.eye(2).mul(1e-9))).item(), true);
  assert.equal(c.positiveSemidefinite.check(matrices.at(2)).item(), false);
  assert.equal(c.positiveDefinite.check(eg.ones([2, 3])).item(), false);
  const both = [c.positive, c.real];
  assert.deepEqual(
    [
      ...c
        .cat(both, 0, [1, 2])
        .check(double([-1, -1, 2]))
        .dataSync(),
    ],
    [0, 1, 1],
  );
  assert.deepEqual(
    [
      ...c
        .stack(both)
        .check(double([-1, -1]))
        .dataSync(),
    ],
    [0, 1],
  );
  assert.deepEqual(kept(c.lessThan(0.5)), [1, 1, 0, 0, 0, 0]);
  assert.deepEqual(kept(c.independent(c.real, 1)), [0]);
  assert.equal(String(c.independent(c.greaterThan(2), 1)), "independent(greaterThan(2), 1)");
});
