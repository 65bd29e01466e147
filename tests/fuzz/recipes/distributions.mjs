// Distributions.

export const kDistributions = [
  [
    "new eg.distributions.Normal(eg.randn([2]), 1.5, { validateArgs: true })",
    "$0.rsample([3, 2])",
    "$0.logProb($1)",
    "$0.expand([4, 2]).entropy()",
    "eg.distributions.klDivergence($0, new eg.distributions.Laplace(0, eg.ones([2])))",
    "!$0.logProb(eg.ones([3]))",
  ],
  [
    "new eg.distributions.Bernoulli({ logits: eg.randn([3]) })",
    "$0.sample(5)",
    "$0.logProb($1)",
    "$0.enumerateSupport(false)",
  ],
  [
    "new eg.distributions.AffineTransform(1, eg.ones([3]), { eventDim: 1 })",
    "new eg.distributions.Independent(new eg.distributions.Gumbel(eg.zeros([3]), 1), 1)",
    "new eg.distributions.TransformedDistribution($1, [$0, new eg.distributions.SigmoidTransform()])",
    "$2.logProb($2.sample([2]))",
    "$0.inv.call(eg.ones([2, 3]))",
  ],
  [
    "new eg.distributions.MultivariateNormal(eg.zeros([2]), eg.eye(2))",
    "$0.sample([3])",
    "$0.logProb($1)",
    "eg.distributions.constraints.interval(0, eg.ones([2])).check($1)",
  ],
];

// Each with a gradient of its parameter, where it has one.
const used = (distribution, ...more) => [
  `new eg.distributions.${distribution}`,
  "$0.sample([2])",
  "$0.logProb($1)",
  "$0.mean",
  "$0.variance",
  ...more,
];

const kEntropy = "$0.entropy()";
const kRsample = "$0.rsample([3])";

/** Every other distribution. */
export const kMoreDistributions = [
  used("Beta(eg.rand([2]).add(1), 2)", kEntropy, kRsample),
  used("Binomial({ totalCount: 5, probs: 0.3 })", "$0.enumerateSupport({ expand: false })"),
  used("Categorical({ probs: eg.rand([2, 3]) })", kEntropy, "$0.enumerateSupport()"),
  used("Categorical(null, eg.randn([3]), { validateArgs: true })", kEntropy),
  used("Cauchy(0, eg.ones([2]))", "$0.cdf($1)", "$0.icdf(eg.rand([2]))", kRsample),
  used("Chi2(eg.tensor([2, 3]))", kEntropy),
  used("Dirichlet(eg.rand([3]).add(1), { validateArgs: true })", kEntropy, kRsample),
  used("Exponential(eg.rand([2]).add(0.1))", "$0.cdf($1)", "$0.icdf(eg.rand([2]))", kEntropy),
  used("Gamma(2, eg.ones([2]))", kEntropy, kRsample),
  used("Geometric({ probs: eg.tensor([0.3, 0.5]) })", kEntropy),
  used("Gumbel(0, eg.ones([2]))", kEntropy, "$0.cdf($1)"),
  used("HalfNormal(eg.ones([2]))", "$0.icdf(eg.rand([2]))", kEntropy),
  used("Laplace(0, { scale: 2 })", "$0.cdf($1)", kRsample),
  used("LogNormal(0, eg.ones([2]))", kEntropy, kRsample),
  used("Poisson(eg.tensor([1, 4]))"),
  used("StudentT(3, { loc: 0, scale: 2 })", kEntropy, kRsample),
  used("Uniform(0, eg.tensor([1, 2]))", "$0.cdf($1)", "$0.icdf(eg.rand([2]))", kEntropy),
  used("Multinomial({ totalCount: 4, probs: eg.rand([3]) })"),
  used("OneHotCategorical(eg.rand([3]))", kEntropy, "$0.enumerateSupport()"),
  used("OneHotCategoricalStraightThrough({ logits: eg.randn([2, 3]) })", kRsample),
  [
    "new eg.distributions.RelaxedBernoulli(eg.tensor(0.5), { probs: eg.rand([2]) })",
    kRsample,
    "$0.logProb($1)",
    "new eg.distributions.RelaxedOneHotCategorical(eg.tensor(0.7), { logits: eg.randn([3]) })",
    "$3.rsample([2])",
    "$3.logProb($4)",
    "new eg.distributions.LogitRelaxedBernoulli(eg.tensor(0.5), { logits: eg.randn([2]) })",
    "new eg.distributions.ExpRelaxedCategorical(eg.tensor(0.5), { probs: eg.rand([3]) })",
    "$6.logProb($6.sample())",
    "$7.logProb($7.sample())",
  ],
  used(
    "MixtureSameFamily(new eg.distributions.Categorical(eg.rand([2])), new eg.distributions.Normal(eg.randn([2]), 1))",
    "$0.cdf($1)",
  ),
  [
    "[new eg.distributions.ExpTransform(), new eg.distributions.TanhTransform(), new eg.distributions.AbsTransform(), new eg.distributions.PowerTransform(eg.tensor(2)), new eg.distributions.SoftplusTransform(), new eg.distributions.SoftmaxTransform(), new eg.distributions.StickBreakingTransform()]",
    "$0.map((one) => one.call(eg.rand([3])))",
    "new eg.distributions.ComposeTransform([$0[0], new eg.distributions.SigmoidTransform()])",
    "$2.inv.call(eg.rand([3]))",
    "$2.logAbsDetJacobian(eg.rand([3]), eg.rand([3]))",
    "$2.inverse(eg.rand([3]))",
    "!new eg.distributions.Distribution([2], [], { validateArgs: false })",
    "$2.forwardShape([2, 3])",
  ],
  [
    "eg.randn([2, 2])",
    "eg.distributions.constraints.greaterThan(0).check($0)",
    "eg.distributions.constraints.greaterThanEq(0).check($0)",
    "eg.distributions.constraints.lessThan(eg.ones([2])).check($0)",
    "eg.distributions.constraints.integerInterval(0, 3).check($0)",
    "eg.distributions.constraints.multinomial(3).check($0)",
    "eg.distributions.constraints.independent(eg.distributions.constraints.positive, 1).check($0)",
    "[eg.distributions.constraints.simplex, eg.distributions.constraints.positiveDefinite, eg.distributions.constraints.lowerCholesky, eg.distributions.constraints.oneHot].map((one) => one.check($0))",
    "eg.distributions.klDivergence(new eg.distributions.Gamma(2, 1), new eg.distributions.Exponential(1))",
    "!eg.distributions.registerKl(eg.distributions.Normal, null, null)",
  ],
  [
    "new eg.distributions.LowRankMultivariateNormal(eg.zeros([3]), eg.randn([3, 1]), eg.ones([3]))",
    "$0.logProb($0.rsample([2]))",
    "eg.distributions.klDivergence($0, $0)",
  ],
  [
    "new eg.distributions.NegativeBinomial(3, { logits: eg.randn([2]) })",
    "$0.logProb($0.sample([2]))",
    "new eg.distributions.VonMises(eg.randn([2]), eg.ones([2])).sample(3)",
    "new eg.distributions.LKJCholesky(3, { concentration: 2 }).sample()",
    "new eg.distributions.ContinuousBernoulli(eg.rand([2]), { lims: [0.4, 0.6] }).rsample()",
    "new eg.distributions.CatTransform([new eg.distributions.ExpTransform()], 0, [2]).call(eg.ones([2]))",
  ],
  [
    "new eg.distributions.IndependentTransform(new eg.distributions.ExpTransform(), 1)",
    "new eg.distributions.ReshapeTransform([4], [2, 2])",
    "new eg.distributions.CorrCholeskyTransform()",
    "new eg.distributions.CumulativeDistributionTransform(new eg.distributions.Normal(0, 1))",
    "$0.logAbsDetJacobian(eg.ones([2, 3]), $0.call(eg.ones([2, 3])))",
    "$1.inv.call($1.call(eg.ones([3, 4])))",
    "$2.inv.call($2.call(eg.ones([2, 3])))",
    "$3.inv.call($3.call(eg.ones([2])))",
    "new eg.distributions.LowerCholeskyTransform().call(eg.ones([2, 2]))",
  ],
  ...[
    "FisherSnedecor(3, eg.ones([2]))",
    "HalfCauchy(eg.ones([2]))",
    "InverseGamma(2, eg.ones([2]))",
    "Kumaraswamy(2, eg.ones([2]))",
    "LogisticNormal(eg.zeros([2]), eg.ones([2]))",
    "Pareto(1, eg.ones([2]))",
    "Weibull(1, eg.ones([2]))",
  ].map((made) => [
    `new eg.distributions.${made}`,
    "$0.sample([2])",
    "$0.logProb($1)",
    "String($0)",
  ]),
  [
    "new eg.distributions.StackTransform([new eg.distributions.ExpTransform()], 0)",
    "$0.call(eg.ones([1, 2]))",
    "new eg.distributions.PositiveDefiniteTransform().call(eg.ones([2, 2]))",
  ],
];
