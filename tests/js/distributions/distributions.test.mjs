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
        assertThrows(() => make(...given), "InvalidArgument", /NaN or infinite/);
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

describe("the ends of supports", () => {
  const kInf = Infinity;
  const log = Math.log;
  const at = (value) => (Array.isArray(value) ? value : [value]).map((one) => double(one));
  // The values of log densities at the ends, as limits of their closed forms.
  for (const [name, parameters, ends] of [
    ["Beta", [1, 1], { 0: 0, 1: 0 }],
    ["Beta", [1, 3], { 0: log(3), 1: -kInf }],
    ["Beta", [3, 1], { 0: -kInf, 1: log(3) }],
    ["Beta", [0.5, 1], { 0: kInf, 1: log(0.5) }],
    ["Kumaraswamy", [1, 1], { 0: 0, 1: 0 }],
    ["Kumaraswamy", [1, 3], { 0: log(3), 1: -kInf }],
    ["Kumaraswamy", [3, 1], { 0: -kInf, 1: log(3) }],
    ["Kumaraswamy", [0.5, 0.5], { 0: kInf, 1: kInf }],
    ["Uniform", [-1, 2], { "-1": -log(3), 2: -kInf }],
    ["ContinuousBernoulli", [0.5], { 0: log(2) + log(0.5), 1: log(2) + log(0.5) }],
    ["Gamma", [1, 2], { 0: log(2), Infinity: -kInf }],
    ["Gamma", [3, 2], { 0: -kInf, Infinity: -kInf }],
    ["Gamma", [0.5, 2], { 0: kInf, Infinity: -kInf }],
    ["Chi2", [2], { 0: log(0.5), Infinity: -kInf }],
    ["Exponential", [2], { 0: log(2), Infinity: -kInf }],
    ["Weibull", [2, 1], { 0: log(0.5), Infinity: -kInf }],
    ["Weibull", [2, 3], { 0: -kInf, Infinity: -kInf }],
    ["Weibull", [2, 0.5], { 0: kInf, Infinity: -kInf }],
    ["InverseGamma", [0.5, 2], { 0: -kInf, Infinity: -kInf }],
    ["InverseGamma", [3, 2], { 0: -kInf, Infinity: -kInf }],
    ["FisherSnedecor", [2, 5], { 0: 0, Infinity: -kInf }],
    ["FisherSnedecor", [1, 5], { 0: kInf, Infinity: -kInf }],
    ["FisherSnedecor", [4, 5], { 0: -kInf, Infinity: -kInf }],
    ["LogNormal", [0.5, 2], { 0: -kInf, Infinity: -kInf }],
    ["HalfNormal", [2], { 0: 0.5 * log(2 / Math.PI) - log(2), Infinity: -kInf }],
    ["HalfCauchy", [2], { 0: log(1 / Math.PI), Infinity: -kInf }],
    ["Pareto", [2, 3], { 2: log(1.5), Infinity: -kInf }],
    ["Normal", [0.5, 2], { "-Infinity": -kInf, Infinity: -kInf }],
    ["Laplace", [0.5, 2], { "-Infinity": -kInf, Infinity: -kInf }],
    ["Cauchy", [0.5, 2], { "-Infinity": -kInf, Infinity: -kInf }],
    ["Gumbel", [0.5, 2], { "-Infinity": -kInf, Infinity: -kInf }],
    ["StudentT", [1], { "-Infinity": -kInf, Infinity: -kInf }],
    ["Poisson", [0], { 0: 0, 1: -kInf }],
    ["Geometric", [1], { 0: 0, 1: -kInf }],
    ["NegativeBinomial", [0, 0.3], { 0: 0, 1: -kInf }],
  ]) {
    test(`${name}(${parameters})`, () => {
      const it = new d[name](...at(parameters), { validateArgs: false });
      const values = Object.keys(ends).map(Number);
      assertTensor(it.logProb(double(values)), Object.values(ends), { atol: 1e-12 });
    });
  }

  test("of vectors and matrices", () => {
    const dirichlet = new d.Dirichlet(double([1, 1, 2]));
    assertTensor(dirichlet.logProb(double([0, 0, 1])), [log(6)], { atol: 1e-12 });
    assertTensor(dirichlet.logProb(double([0, 1, 0])), [-kInf]);
    const flat = new d.LKJCholesky(2, double(1), { validateArgs: false });
    const singular = double([
      [1, 0],
      [1, 0],
    ]);
    assertTensor(flat.logProb(singular), [log(0.5)], { atol: 1e-12 });
  });

  test("have the gradients of the density", () => {
    const slope = (it, value) => {
      const x = double(value).requiresGrad_();
      it.logProb(x).backward();
      return x.grad;
    };
    assertTensor(slope(new d.Beta(double(1), double(3)), 0), [-2]);
    assertTensor(slope(new d.Beta(double(3), double(1)), 1), [2]);
    assertTensor(slope(new d.Gamma(double(1), double(2)), 0), [-2]);
    assertTensor(slope(new d.Kumaraswamy(double(1), double(3)), 0), [-2]);
  });

  test("quantiles at 0 and 1", () => {
    for (const [it, ends] of [
      [new d.Cauchy(double(0.5), double(2)), [-kInf, kInf]],
      [new d.HalfCauchy(double(2)), [0, kInf]],
      [new d.Normal(double(0.5), double(2)), [-kInf, kInf]],
      [new d.Laplace(double(0.5), double(2)), [-kInf, kInf]],
      [new d.Gumbel(double(0.5), double(2)), [-kInf, kInf]],
      [new d.Exponential(double(2)), [0, kInf]],
      [new d.Uniform(double(-1), double(2)), [-1, 2]],
    ]) {
      assertTensor(
        it
          .icdf(double([0, 1]))
          .abs()
          .mul(it.icdf(double([0, 1])).sign()),
        ends,
      );
    }
  });

  test("divergences of distributions that reach them", () => {
    const kl = (p, q) => d.klDivergence(p, q);
    const uniform = (low, high) => new d.Uniform(double(low), double(high));
    const of = (type, ...parameters) => new d[type](...at(parameters));
    const half = of("ContinuousBernoulli", 0.5);
    for (const [p, q, expected] of [
      // The means of log x and log (1 - x) are -1.
      [uniform(0, 1), of("Beta", 2, 3), 3 - log(12)],
      [uniform(0, 1), of("Beta", 1, 1), 0],
      [uniform(0.25, 0.5), of("Beta", 1, 1), log(4)],
      [uniform(0, 2), of("Beta", 1, 1), kInf],
      [uniform(0, 1), of("Gamma", 3, 2), log(2) - 3 * log(2) + 2 + 1],
      [uniform(0, 1), half, 0],
      [uniform(-1, 1), half, kInf],
      [half, uniform(0, 1), 0],
      [half, uniform(0, 2), log(2)],
      [half, uniform(0.1, 2), kInf],
      [of("Beta", 1, 1), uniform(0, 1), 0],
      [
        uniform(2, 3),
        of("Pareto", 2, 1),
        3 * log(3) - 2 * log(2) - 1 + (3 * log(3) - 2 * log(2) - 1) - log(2),
      ],
      [of("Poisson", 0), of("Poisson", 2), 2],
      [of("Poisson", 0), of("Poisson", 0), 0],
      [of("Poisson", 2), of("Poisson", 0), kInf],
      [of("Bernoulli", 0), of("Poisson", 0), 0],
      [of("Geometric", 1), of("Geometric", 1), 0],
      [of("Geometric", 1), of("Geometric", 0.25), log(4)],
      [of("Geometric", 0.25), of("Geometric", 1), kInf],
      [of("Binomial", 3, 1), of("Binomial", 3, 1), 0],
      [of("Binomial", 3, 0), of("Binomial", 3, 0), 0],
      [of("Binomial", 3, 1), of("Binomial", 3, 0.5), 3 * log(2)],
      [of("Binomial", 3, 0.5), of("Binomial", 3, 0), kInf],
    ]) {
      assertTensor(kl(p, q), [expected], { atol: 1e-9 });
    }
  });
});
