// Properties of every distribution, and errors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const { gradcheck, gradgradcheck } = eg.autograd;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-9, atol: 1e-9 };

/** Per distribution: how it is created from its parameters, the parameters, and a value. */
const kSamples = {
  Normal: [
    (loc, scale) => new d.Normal(loc, scale),
    [
      [0.3, -1.2],
      [0.7, 2],
    ],
    [0.1, -3],
  ],
  LogNormal: [
    (loc, scale) => new d.LogNormal(loc, scale),
    [
      [0.3, -0.2],
      [0.7, 1.2],
    ],
    [0.4, 2.5],
  ],
  HalfNormal: [(scale) => new d.HalfNormal(scale), [[0.7, 2]], [0.1, 3]],
  Uniform: [
    (low, high) => new d.Uniform(low, high),
    [
      [-1, 0.5],
      [2, 3.5],
    ],
    [0.25, 3.25],
  ],
  Exponential: [(rate) => new d.Exponential(rate), [[0.5, 3]], [0.4, 2.5]],
  Laplace: [
    (loc, scale) => new d.Laplace(loc, scale),
    [
      [0.3, -1.2],
      [0.7, 2],
    ],
    [0.1, -3],
  ],
  Gumbel: [
    (loc, scale) => new d.Gumbel(loc, scale),
    [
      [0.3, -1.2],
      [0.7, 2],
    ],
    [0.1, -3],
  ],
  Cauchy: [
    (loc, scale) => new d.Cauchy(loc, scale),
    [
      [0.3, -1.2],
      [0.7, 2],
    ],
    [0.1, -3],
  ],
  Gamma: [
    (a, rate) => new d.Gamma(a, rate),
    [
      [0.6, 3],
      [0.7, 2],
    ],
    [0.4, 2.5],
  ],
  Chi2: [(df) => new d.Chi2(df), [[0.6, 3]], [0.4, 2.5]],
  StudentT: [
    (df, l, s) => new d.StudentT(df, l, s),
    [
      [3.5, 2.5],
      [0.3, -1],
      [0.7, 2],
    ],
    [0.1, -3],
  ],
  Beta: [
    (a, b) => new d.Beta(a, b),
    [
      [0.6, 3],
      [0.7, 2],
    ],
    [0.4, 0.9],
  ],
  Dirichlet: [(a) => new d.Dirichlet(a), [[[0.6, 3, 1.5]]], null],
  Bernoulli: [(probs) => new d.Bernoulli(probs), [[0.2, 0.7]], null],
  "Bernoulli of logits": [(logits) => new d.Bernoulli({ logits }), [[-1.5, 0.4]], null],
  Geometric: [(probs) => new d.Geometric(probs), [[0.2, 0.7]], null],
  Binomial: [(probs) => new d.Binomial(5, probs), [[0.2, 0.7]], null],
  Poisson: [(rate) => new d.Poisson(rate), [[0.6, 3.5]], null],
  Categorical: [
    (logits) => new d.Categorical({ logits }),
    [
      [
        [0.5, -1, 2],
        [1, 0, 0.3],
      ],
    ],
    null,
  ],
  OneHotCategorical: [(logits) => new d.OneHotCategorical({ logits }), [[[0.5, -1, 2]]], null],
  MultivariateNormal: [
    (loc, scaleTril) => new d.MultivariateNormal(loc, { scaleTril, validateArgs: false }),
    [
      [[0.3, -1.2]],
      [
        [1.1, 0],
        [-0.4, 0.8],
      ],
    ],
    [[0.1, -3]],
  ],
  HalfCauchy: [(scale) => new d.HalfCauchy(scale), [[0.7, 2]], [0.1, 3]],
  Pareto: [
    (scale, alpha) => new d.Pareto(scale, alpha),
    [
      [0.7, 2],
      [4.5, 6],
    ],
    [0.9, 2.5],
  ],
  Weibull: [
    (scale, k) => new d.Weibull(scale, k),
    [
      [0.7, 2],
      [1.8, 3.5],
    ],
    [0.9, 2.5],
  ],
  FisherSnedecor: [
    (df1, df2) => new d.FisherSnedecor(df1, df2),
    [
      [3.5, 5],
      [15, 20],
    ],
    [0.9, 2.5],
  ],
  InverseGamma: [
    (a, rate) => new d.InverseGamma(a, rate),
    [
      [6, 9],
      [0.7, 2],
    ],
    [0.4, 0.9],
  ],
  Kumaraswamy: [
    (a, b) => new d.Kumaraswamy(a, b),
    [
      [0.7, 2],
      [1.8, 3.5],
    ],
    [0.9, 0.25],
  ],
  NegativeBinomial: [(probs) => new d.NegativeBinomial(3, probs), [[0.2, 0.7]], null],
  ContinuousBernoulli: [(probs) => new d.ContinuousBernoulli(probs), [[0.2, 0.7]], [0.3, 0.8]],
  VonMises: [
    (loc, k) => new d.VonMises(loc, k),
    [
      [0.3, -1.2],
      [0.7, 6],
    ],
    [0.1, -3],
  ],
  LowRankMultivariateNormal: [
    (loc, factor, diag) =>
      new d.LowRankMultivariateNormal(loc, factor, diag, { validateArgs: false }),
    [
      [[0.3, -1.2, 0.5]],
      [
        [1.1, 0.2],
        [-0.4, 0.8],
        [0.3, 0.1],
      ],
      [0.5, 1, 0.3],
    ],
    [[0.1, -3, 0.4]],
  ],
  LogisticNormal: [
    (loc, scale) => new d.LogisticNormal(loc, scale),
    [[[0.3, -1.2]], [[0.7, 0.4]]],
    null,
  ],
  LKJCholesky: [(k) => new d.LKJCholesky(3, k), [[0.8, 1.5]], null],
  Wishart: [
    (df, scaleTril) => new d.Wishart(df, { scaleTril, validateArgs: false }),
    [
      [3.5, 6],
      [
        [1.1, 0],
        [-0.4, 0.8],
      ],
    ],
    null,
  ],
  RelaxedBernoulli: [(p) => new d.RelaxedBernoulli(0.7, p), [[0.2, 0.8]], [0.5, 0.3]],
  RelaxedOneHotCategorical: [
    (logits) => new d.RelaxedOneHotCategorical(double(0.7), { logits }),
    [[[0.5, -1, 2]]],
    null,
  ],
};

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

describe("distributions refuse", () => {
  const kRefused = {
    "a scale below 0": [
      () => new d.Normal(0, -1),
      "InvalidArgument",
      /^\[Normal\] scale: .* constraint positive in Normal\(.*\)/,
    ],
    "parameters that do not broadcast": [
      () => new d.Normal(double([1, 2]), double([1, 2, 3])),
      "ShapeMismatch",
      /\[Normal\] the shapes \[2\] and \[3\]/,
    ],
    "a value outside the support": [
      () => new d.Exponential(1).logProb(double([-1])),
      "InvalidArgument",
      /^\[Exponential.logProb\] value: .* support nonnegative of Exponential\(.*\)/,
    ],
    "a value of another shape": [
      () => new d.Normal(double([0, 1]), 1).logProb(double([1, 2, 3])),
      "ShapeMismatch",
      /broadcasts with batchShape \+ eventShape/,
    ],
    "a value of another event": [
      () => new d.Dirichlet(double([1, 1])).logProb(double([0.2, 0.3, 0.5])),
      "ShapeMismatch",
      /broadcasts with batchShape \+ eventShape/,
    ],
    "a value that is not a tensor": [
      () => new d.Normal(0, 1).logProb(1),
      "InvalidArgument",
      /value: expected a tensor/,
    ],
    "neither probs nor logits": [
      () => new d.Bernoulli(),
      "InvalidArgument",
      /either `probs` or `logits`/,
    ],
    "probs and logits": [
      () => new d.Categorical(double([1]), double([1])),
      "InvalidArgument",
      /got both/,
    ],
    "probabilities without classes": [
      () => new d.Categorical(1),
      "ShapeMismatch",
      /at least one dimension/,
    ],
    "a mistyped option": [
      () => new d.Normal(0, 1, { validate: true }),
      "InvalidArgument",
      /Did you mean "validateArgs"/,
    ],
    "too few arguments": [
      () => new d.Normal(0),
      "InvalidArgument",
      /scale: expected a tensor or a number, got nothing/,
    ],
    "an invalid shape": [
      () => new d.Normal(0, 1).sample(-1),
      "InvalidArgument",
      /^\[Normal.sample\] shape/,
    ],
    "an empty interval": [() => new d.Uniform(1, 1), "InvalidArgument", /expected low < high/],
    "a probability of 0 for Geometric": [
      () => new d.Geometric(0),
      "InvalidArgument",
      /expected positive probabilities/,
    ],
    "a matrix that is not a covariance": [
      () =>
        new d.MultivariateNormal(
          double([0, 0]),
          double([
            [1, 2],
            [2, 1],
          ]),
        ),
      "InvalidArgument",
      /positiveDefinite/,
    ],
    "two matrices": [
      () => new d.MultivariateNormal(double([0]), double([[1]]), double([[1]])),
      "InvalidArgument",
      /covarianceMatrix and precisionMatrix/,
    ],
    "more dimensions than the batch has": [
      () => new d.Independent(new d.Normal(0, 1), 1),
      "InvalidArgument",
      /reinterpretedBatchNdims/,
    ],
    "a mixture with another number of components": [
      () =>
        new d.MixtureSameFamily(
          new d.Categorical(double([1, 1])),
          new d.Normal(double([1, 2, 3]), 1),
        ),
      "ShapeMismatch",
      /2 components/,
    ],
    "a value that is not a transform": [
      () => new d.TransformedDistribution(new d.Normal(0, 1), [1]),
      "InvalidArgument",
      /a transform/,
    ],
    "a mode that is not implemented": [
      () => new d.Multinomial(2, double([0.5, 0.5])).mode,
      "InvalidArgument",
      /Multinomial does not implement mode/,
    ],
    "an abstract class": [() => new d.Distribution(), "InvalidArgument", /abstract/],
  };
  for (const [what, [call, code, text]] of Object.entries(kRefused)) {
    test(what, () => assertThrows(call, code, text));
  }

  test("no parameters when validation is off", () => {
    assert.ok(Number.isNaN(new d.Normal(0, -1, false).logProb(eg.tensor([1])).item()));
  });
});

describe("Independent", () => {
  const it = new d.Independent(
    new d.Normal(
      double([
        [0, 1],
        [2, 3],
      ]),
      double([1, 2]),
    ),
    1,
  );

  test("sums over the dimensions of one value", () => {
    assert.deepEqual([[...it.batchShape], [...it.eventShape]], [[2], [2]]);
    assertTensor(it.logProb(double([0.5, 0.5])), [-2.687274246969, -4.437274246969], kDouble);
    assertTensor(it.entropy(), [3.531024246969, 3.531024246969], kDouble);
    assert.deepEqual(it.expand([3, 2]).sample([5]).shape, [5, 3, 2, 2]);
  });
});

test("Gamma and Chi2 have a cdf", () => {
  const gamma = new d.Gamma(double(2.5), double(1.5));
  assertTensor(gamma.cdf(double([1.2, 0])), [0.391686707918531, 0], kDouble);
  assertTensor(new d.Chi2(double(3)).cdf(double(2)), [0.42759329552912], kDouble);
  const value = double(1.2).requiresGrad_();
  const [density] = eg.autograd.grad(gamma.cdf(value), [value]);
  assertTensor(density, gamma.logProb(value.detach()).exp().dataSync(), kDouble);
});

describe("TransformedDistribution", () => {
  test("has the density of the transformed values", () => {
    const base = new d.Normal(double([0, 1]), double([1, 2]));
    const affine = new d.AffineTransform(double(1), double([-2, 3]));
    const it = new d.TransformedDistribution(base, [new d.TanhTransform(), affine]);
    const value = double([0.5, 2.5]);
    assertTensor(it.logProb(value), [-1.580165044864, -2.448406548923], kDouble);
    assertTensor(it.cdf(value), [0.399202138212, 0.410854697608], kDouble);
    assertTensor(it.icdf(double([0.25, 0.5])), [-0.175850955693, 3.284782467867], kDouble);
  });

  test("uses batch dimensions as event dimensions if its transforms need them", () => {
    const base = new d.Normal(double([0, 1]), double([1, 2]));
    const it = new d.TransformedDistribution(base, new d.StickBreakingTransform());
    assert.deepEqual([[...it.batchShape], [...it.eventShape]], [[], [3]]);
    assertTensor(it.logProb(double([0.5, 0.2, 0.3])), [0.488390622128], kDouble);
    assert.deepEqual(it.expand([4]).sample([2]).shape, [2, 4, 3]);
  });

  test("expands its base to the shape of the parameters of its transforms", () => {
    const affine = new d.AffineTransform(double([0, 1, 2]), double([1, 2, 4]), { eventDim: 1 });
    const it = new d.TransformedDistribution(new d.Normal(double([0]), double([1])), affine);
    assert.deepEqual([[...it.batchShape], [...it.eventShape]], [[], [3]]);
    assertTensor(it.logProb(double([0.5, 0.2, 0.3])), [-5.131569641294], kDouble);
  });
});

describe("MixtureSameFamily", () => {
  test("is the weighted sum of its components", () => {
    const weights = new d.Categorical(double([0.3, 0.7]));
    const it = new d.MixtureSameFamily(weights, new d.Normal(double([-1, 2]), double([0.5, 1.5])));
    assertTensor(it.mean, [1.1], kDouble);
    assertTensor(it.variance, [3.54], kDouble);
    assertTensor(it.logProb(double([0, 1])), [-2.217025801167, -1.902762312615], kDouble);
    assertTensor(it.cdf(double([0, 1])), [0.357022814224, 0.47673527491], kDouble);
  });

  test("supports components with event dimensions", () => {
    const weights = new d.Categorical(
      double([
        [0.3, 0.7],
        [0.5, 0.5],
      ]),
    );
    const locs = double([
      [
        [-1, 0],
        [2, 1],
      ],
      [
        [-1, 0],
        [2, 1],
      ],
    ]);
    const components = new d.Independent(new d.Normal(locs, double([0.5, 1.5])), 1);
    const it = new d.MixtureSameFamily(weights, components);
    assert.deepEqual([[...it.batchShape], [...it.eventShape]], [[2], [2]]);
    assertTensor(it.mean, [1.1, 0.7, 0.5, 0.5], kDouble);
    assertTensor(it.variance, [2.14, 2.46, 2.5, 2.5], kDouble);
    assertTensor(it.logProb(double([0, 1])), [-4.969192945704, -4.462473591351], kDouble);
  });
});

describe("InverseGamma", () => {
  const it = new d.InverseGamma(double([3, 0.8]), double([2, 1.5]));

  test("has the density of reciprocals of gamma variables", () => {
    // rate^a / gamma(a) x^(-a-1) exp(-rate / x)
    const expected = [
      3 * Math.log(2) - Math.log(2) - 4 * Math.log(0.5) - 4,
      0.8 * Math.log(1.5) - Math.log(1.1642297137253035) - 1.8 * Math.log(4) - 1.5 / 4,
    ];
    assertTensor(it.logProb(double([0.5, 4])), expected, kDouble);
    assertTensor(it.mean, [1, Number.POSITIVE_INFINITY]);
    assertTensor(it.mode, [0.5, 1.5 / 1.8], kDouble);
    assertTensor(it.variance, [1, Number.POSITIVE_INFINITY]);
  });

  test("draws the reciprocals of the draws of Gamma", () => {
    eg.manualSeed(5);
    const inverted = it.sample([4]);
    eg.manualSeed(5);
    const gamma = new d.Gamma(it.concentration, it.rate).sample([4]);
    assertTensor(inverted, gamma.reciprocal().dataSync(), kDouble);
    // The mean of -log p over many samples.
    const draws = it.sample([20000]);
    const estimate = it.logProb(draws).mean(0).neg();
    assertTensor(it.entropy(), estimate.dataSync(), { rtol: 0.05, atol: 0.05 });
  });
});

describe("ExponentialFamily", () => {
  // The natural parameters as in PyTorch's classes.
  class OwnNormal extends d.ExponentialFamily {
    constructor(loc, scale) {
      super({ parameters: { loc, scale }, batchShape: loc.shape });
    }

    get naturalParams() {
      const { loc, scale } = this.parameters;
      const precision = scale.square().reciprocal();
      return [loc.mul(precision), precision.mul(-0.5)];
    }

    get meanCarrierMeasure() {
      return 0;
    }

    logNormalizer(x, y) {
      return x.square().div(y).mul(-0.25).add(y.reciprocal().neg().mul(Math.PI).log().mul(0.5));
    }
  }
  const parameters = () => [double([0.3, -1.2]).requiresGrad_(), double([0.7, 2]).requiresGrad_()];
  const others = [double([0.1, 1]), double([1.5, 0.5])];

  test("derives entropy and divergence from its log normalizer, with gradients", () => {
    const [given, same] = [parameters(), parameters()];
    const [own, plain] = [new OwnNormal(...given), new d.Normal(...same)];
    assertTensor(own.entropy(), plain.entropy().detach().dataSync(), kDouble);
    const kl = d.klDivergence(own, new OwnNormal(...others));
    const expected = d.klDivergence(plain, new d.Normal(...others));
    assertTensor(kl, expected.detach().dataSync(), kDouble);
    kl.add(own.entropy()).sum().backward();
    expected.add(plain.entropy()).sum().backward();
    given.forEach((one, i) => {
      assertTensor(one.grad, same[i].grad.dataSync(), kDouble);
    });
    const silent = eg.noGrad(() => new OwnNormal(...given).entropy());
    assert.equal(silent.requiresGrad, false);
  });

  test("has no divergence from other families", () => {
    class Another extends OwnNormal {}
    assertThrows(
      () => d.klDivergence(new OwnNormal(...others), new Another(...others)),
      "InvalidArgument",
      /KL\(p \|\| q\) is not known for OwnNormal and Another/,
    );
    assertThrows(() => new d.ExponentialFamily({ parameters: {} }), "InvalidArgument", /abstract/);
    assertTensor(
      eg.distributions.ExponentialFamily.prototype.entropy.call(
        new d.ContinuousBernoulli(double([0.2, 0.5])),
      ),
      new d.ContinuousBernoulli(double([0.2, 0.5])).entropy().dataSync(),
      { rtol: 1e-6 },
    );
  });
});

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
