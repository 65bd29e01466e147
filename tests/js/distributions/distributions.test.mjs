// Properties of every distribution.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { kSamples } from "./support/samples.mjs";

const d = eg.distributions;
const { gradcheck, gradgradcheck } = eg.autograd;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-9, atol: 1e-9 };

/** Values for logProb() of distributions whose values are not differentiable. */
const kValues = {
  Dirichlet: [[0.2, 0.5, 0.3]],
  Bernoulli: [1, 0],
  "Bernoulli of logits": [1, 0],
  Geometric: [3, 0],
  Binomial: [1, 4],
  Poisson: [0, 5],
  NegativeBinomial: [0, 5],
  LogisticNormal: [[0.2, 0.5, 0.3]],
  LKJCholesky: [
    [1, 0, 0],
    [0.6, 0.8, 0],
    [-0.48, 0.6, 0.64],
  ],
  Wishart: [
    [2, 0.5],
    [0.5, 1.5],
  ],
  Categorical: [2, 0],
  OneHotCategorical: [[0, 0, 1]],
  RelaxedOneHotCategorical: [[0.1, 0.3, 0.6]],
};

const kNoEntropy = [
  "Poisson",
  "RelaxedBernoulli",
  "RelaxedOneHotCategorical",
  "FisherSnedecor",
  "NegativeBinomial",
  "VonMises",
  "LogisticNormal",
  "LKJCholesky",
];

// Why the samples of a distribution are not compared with its mean and variance; false if they are.
function whyWithoutMean(name) {
  if (name === "VonMises") return "its mean is the circular mean";
  const without = ["Cauchy", "HalfCauchy", "Categorical", "LogisticNormal", "LKJCholesky"];
  const isWithout = without.includes(name) || name.startsWith("Relaxed");
  return isWithout && "it has or implements no mean and variance";
}

const parametersOf = (name) => kSamples[name][1].map((data) => double(data).requiresGrad_());

describe("every distribution", () => {
  for (const [name, [make, , value]] of Object.entries(kSamples)) {
    test(`${name}: logProb has gradients`, () => {
      const fixed = double(kValues[name] ?? value);
      assert.ok(gradcheck((...given) => make(...given).logProb(fixed), parametersOf(name)));
      assert.ok(gradgradcheck((...given) => make(...given).logProb(fixed), parametersOf(name)));
      if (value === null) return;
      const free = double(value).requiresGrad_();
      const it = make(...kSamples[name][1].map(double));
      assert.ok(gradcheck((x) => it.logProb(x), [free]));
    });

    test(`${name}: the entropy has gradients`, { skip: kNoEntropy.includes(name) }, () => {
      const it = make(...parametersOf(name));
      assert.deepEqual(it.entropy().shape, [...it.batchShape]);
      if (it.entropy().requiresGrad) {
        assert.ok(gradcheck((...given) => make(...given).entropy(), parametersOf(name)));
      }
    });

    test(`${name}: samples have the requested shape, are in the support and are not recorded`, () => {
      const it = make(...parametersOf(name));
      eg.manualSeed(1);
      const sample = it.sample([3, 2]);
      assert.deepEqual(sample.shape, [3, 2, ...it.batchShape, ...it.eventShape]);
      assert.equal(sample.requiresGrad, false);
      assert.equal(it.support.check(sample).all().item(), true);
      assert.deepEqual(it.logProb(sample).shape, [3, 2, ...it.batchShape]);
      assert.deepEqual(it.sample().shape, [...it.batchShape, ...it.eventShape]);
      assert.deepEqual(it.sample(4).shape, [4, ...it.batchShape, ...it.eventShape]);
    });

    test(`${name}: rsample draws the same values as sample, with gradients`, () => {
      const it = make(...parametersOf(name));
      if (!it.hasRsample) {
        assertThrows(() => it.rsample(), "InvalidArgument", /does not implement rsample/);
        return;
      }
      eg.manualSeed(2);
      const sample = it.sample([3]);
      eg.manualSeed(2);
      const drawn = it.rsample([3]);
      assert.equal(drawn.requiresGrad, true);
      assertTensor(drawn, sample.dataSync(), kDouble);
      const redrawn = (...given) => {
        eg.manualSeed(2);
        return make(...given).rsample([3]);
      };
      // Rejection sampling makes gamma draws discontinuous; their gradient is that of the cumulative distribution function.
      const ofGamma = [
        "Gamma",
        "Chi2",
        "StudentT",
        "Beta",
        "Dirichlet",
        "FisherSnedecor",
        "Wishart",
      ];
      if (![...ofGamma, "InverseGamma"].includes(name)) {
        assert.ok(gradcheck(redrawn, parametersOf(name)));
      }
    });

    test(`${name}: samples have its mean and variance`, { skip: whyWithoutMean(name) }, () => {
      const it = make(...kSamples[name][1].map(double));
      const count = 20000;
      eg.manualSeed(3);
      const sample = it.sample([count]);
      const [mean, variance] = [it.mean.expand(sample.shape.slice(1)), it.variance];
      const error = sample.mean(0).sub(mean).abs().div(variance.div(count).sqrt());
      assert.ok(error.max().item() < 5, `mean is ${error} standard errors off`);
      const spread = sample.sub(mean).square().mean(0).div(variance);
      if (name !== "StudentT")
        assertClose(spread.dataSync(), eg.onesLike(spread).dataSync(), { rtol: 0.2 });
    });

    test(`${name}: expand() returns a larger batch of the same distribution`, () => {
      const it = make(...parametersOf(name));
      const wide = it.expand([4, ...it.batchShape]);
      assert.ok(wide instanceof it.constructor);
      assert.deepEqual([...wide.batchShape], [4, ...it.batchShape]);
      assert.deepEqual([...wide.eventShape], [...it.eventShape]);
      const fixed = double(kValues[name] ?? value);
      const expected = it.logProb(fixed).expand([4, ...it.batchShape]);
      assertTensor(wide.logProb(fixed), expected.contiguous().dataSync(), {
        shape: expected.shape,
      });
    });

    test(`${name}: icdf is the inverse of cdf`, () => {
      const it = make(...kSamples[name][1].map(double));
      const share = double([0.3]);
      let quantile;
      try {
        quantile = it.icdf(share);
      } catch (error) {
        assert.match(error.message, /does not implement (i?cdf)|neither increasing nor decreasing/);
        return;
      }
      assertTensor(it.cdf(quantile), [0.3, 0.3], kDouble);
    });

    test(`${name}: a NaN parameter is refused, unless validation is off`, () => {
      const given = kSamples[name][1].map((data) => double(data).mul(Number.NaN));
      // Created without validation, for gradients of the upper triangle.
      if (!name.endsWith("MultivariateNormal") && name !== "Wishart") {
        assertThrows(
          () => make(...given),
          "InvalidArgument",
          /expected values of the constraint|expected positive|expected low < high/,
        );
      }
      // It factors the matrix, which fails for NaN.
      if (name === "LowRankMultivariateNormal") {
        assertThrows(() => make(...given), "InvalidArgument", /not positive definite/);
        return;
      }
      d.Distribution.setDefaultValidateArgs(false);
      try {
        make(...given);
      } finally {
        d.Distribution.setDefaultValidateArgs(true);
      }
    });
  }
});
