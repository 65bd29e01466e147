// Wishart: known values, moments, divergence and errors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { Wishart, klDivergence } = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-12, atol: 1e-12 };

describe("Wishart", () => {
  const covarianceMatrix = double([
    [2, 0.5],
    [0.5, 1],
  ]);
  const x = double([
    [4, 1],
    [1, 3],
  ]);

  // From the definition of the density, with n = 2, |V| = 1.75, |X| = 11 and tr(V⁻¹ X) = 9 / 1.75.
  const logGamma = (value) => eg.lgamma(double(value)).item();
  const logMultigamma = Math.log(Math.PI) / 2 + logGamma(2.5) + logGamma(2);
  const expected =
    Math.log(11) - 9 / 1.75 / 2 - 5 * Math.LN2 - 2.5 * Math.log(1.75) - logMultigamma;

  for (const [name, matrix] of Object.entries({
    covarianceMatrix,
    precisionMatrix: covarianceMatrix.inverse(),
    scaleTril: covarianceMatrix.cholesky(),
  })) {
    test(`logProb with ${name} is that of the density`, () => {
      const it = new Wishart(5, { [name]: matrix });
      assertTensor(it.logProb(x), [expected], kDouble);
      assertTensor(it.covarianceMatrix, [2, 0.5, 0.5, 1], kDouble);
      assertTensor(it.precisionMatrix.matmul(covarianceMatrix), [1, 0, 0, 1], kDouble);
    });
  }

  test("mean, mode and variance have their known values", () => {
    const it = new Wishart(double([5, 2.5]), { covarianceMatrix });
    assertTensor(it.mean, [10, 2.5, 2.5, 5, 5, 1.25, 1.25, 2.5], kDouble);
    assertTensor(it.mode.at(0), [4, 1, 1, 2], kDouble);
    assert.ok(it.mode.at(1).isnan().all().item());
    assertTensor(it.variance.at(0), [40, 11.25, 11.25, 10], kDouble);
  });

  test("the divergence and the entropy are means over samples", () => {
    const p = new Wishart(double([5, 8]), { covarianceMatrix });
    const q = new Wishart(6, { covarianceMatrix: covarianceMatrix.mul(1.5) });
    eg.manualSeed(1);
    const draws = p.sample([40000]);
    const logProb = p.logProb(draws);
    const drawn = { rtol: 0.05, atol: 0.02 };
    assertTensor(klDivergence(p, q), logProb.sub(q.logProb(draws)).mean(0).dataSync(), drawn);
    assertTensor(p.entropy(), logProb.neg().mean(0).dataSync(), drawn);
  });

  test("matrices of one row are gamma distributed", () => {
    const it = new Wishart(3, { covarianceMatrix: double([[2]]) });
    const chi2 = new eg.distributions.Gamma(double(1.5), 0.25);
    assertTensor(it.logProb(double([[0.7]])), [chi2.logProb(double(0.7)).item()], kDouble);
    assert.deepEqual(it.sample([4]).shape, [4, 1, 1]);
  });

  test("refuses too few degrees of freedom, none or several matrices, and matrices that are not square", () => {
    for (const [make, code, message] of [
      [() => new Wishart(1, { covarianceMatrix }), "InvalidArgument", /df: .* above 1/],
      [() => new Wishart(5), "InvalidArgument", /got none/],
      [
        () => new Wishart(5, covarianceMatrix, x),
        "InvalidArgument",
        /covarianceMatrix and precisionMatrix/,
      ],
      [() => new Wishart(5, { covarianceMatrix: x.at(0) }), "ShapeMismatch", /square/],
      [() => new Wishart("5", { covarianceMatrix }), "InvalidArgument", /df: /],
    ]) {
      assertThrows(make, code, message);
    }
  });
});
