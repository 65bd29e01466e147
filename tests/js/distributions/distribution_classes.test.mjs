// Distributions made of others, and values of single ones.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const kDouble = { rtol: 1e-9, atol: 1e-9 };

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
