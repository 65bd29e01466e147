// eg.distributions

export type {
  DistributionOptions,
  Parameter,
  ProbabilityOptions,
  SampleShape,
} from "./arguments.js";
export { Bernoulli, Binomial, type BinomialOptions, Geometric } from "./binary.js";
export {
  Categorical,
  Multinomial,
  type MultinomialOptions,
  OneHotCategorical,
  OneHotCategoricalStraightThrough,
} from "./categorical.js";
export {
  bijectTo,
  type ConstraintRegistry,
  type TransformFactory,
  transformTo,
} from "./constraint_registry.js";
export * as constraints from "./constraints.js";
export {
  ContinuousBernoulli,
  type ContinuousBernoulliOptions,
  type Limits,
} from "./continuous_bernoulli.js";
export { Beta, Dirichlet } from "./dirichlet.js";
export { Distribution, type DistributionParts, type Parameters } from "./distribution.js";
export { Exponential } from "./exponential.js";
export { ExponentialFamily } from "./exponential_family.js";
export { Chi2, Gamma, StudentT, type StudentTOptions } from "./gamma.js";
export { FisherSnedecor, InverseGamma } from "./gamma_ratios.js";
export { Cauchy, Gumbel, HalfCauchy, Laplace } from "./heavy_tails.js";
export { Independent } from "./independent.js";
export { klDivergence, registerKl } from "./kl/kl.js";
export type { DistributionClass } from "./kl/pair.js";
export { LKJCholesky, type LKJCholeskyOptions } from "./lkj_cholesky.js";
export { LowRankMultivariateNormal } from "./low_rank_multivariate_normal.js";
export { MixtureSameFamily } from "./mixture.js";
export { MultivariateNormal, type MultivariateNormalOptions } from "./multivariate_normal.js";
export { HalfNormal, LogisticNormal, LogNormal, Normal } from "./normal.js";
export { NegativeBinomial, Poisson } from "./poisson.js";
export {
  ExpRelaxedCategorical,
  LogitRelaxedBernoulli,
  RelaxedBernoulli,
  RelaxedOneHotCategorical,
} from "./relaxed.js";
export { TransformedDistribution } from "./transformed_distribution.js";
export { Pareto, Weibull } from "./transformed_exponential.js";
export {
  AffineTransform,
  type AffineTransformOptions,
  PowerTransform,
} from "./transforms/affine.js";
export { ComposeTransform } from "./transforms/compose.js";
export { CumulativeDistributionTransform } from "./transforms/cumulative.js";
export {
  CatTransform,
  type CatTransformOptions,
  StackTransform,
  type StackTransformOptions,
} from "./transforms/joined.js";
export {
  CorrCholeskyTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
} from "./transforms/matrices.js";
export {
  AbsTransform,
  ExpTransform,
  SigmoidTransform,
  SoftplusTransform,
  TanhTransform,
} from "./transforms/plain.js";
export { IndependentTransform, ReshapeTransform } from "./transforms/shapes.js";
export { SoftmaxTransform, StickBreakingTransform } from "./transforms/simplex.js";
export {
  type CacheSize,
  Transform,
  type TransformArguments,
  type TransformOptions,
} from "./transforms/transform.js";
export { Kumaraswamy, Uniform } from "./uniform.js";
export { VonMises } from "./von_mises.js";
export { Wishart, type WishartOptions } from "./wishart.js";
