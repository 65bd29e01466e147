import { eg } from "../../support/engine.mjs";

const d = eg.distributions;
const double = (data) => eg.tensor(data, { dtype: "float64" });

/** Per distribution: how it is created from its parameters, the parameters, and a value. */
export const kSamples = {
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
