// eg.distributions

export type { DistributionOptions, Parameter, SampleShape } from "./base/arguments.js";
export type { DistributionClass } from "./base/declaration.js";
export { Distribution, type DistributionParts, type Parameters } from "./base/distribution.js";
export { ExponentialFamily } from "./base/exponential_family.js";
export type { ProbabilityOptions } from "./base/probabilities.js";
export { Independent } from "./combined/independent.js";
export { MixtureSameFamily } from "./combined/mixture.js";
export { TransformedDistribution } from "./combined/transformed_distribution.js";
export * as constraints from "./constraints/constraints.js";
export {
  bijectTo,
  type ConstraintRegistry,
  type TransformFactory,
  transformTo,
} from "./constraints/registry.js";
export {
  ContinuousBernoulli,
  type ContinuousBernoulliOptions,
  type Limits,
} from "./continuous/continuous_bernoulli.js";
export {
  Chi2,
  Exponential,
  FisherSnedecor,
  Gamma,
  StudentT,
  type StudentTOptions,
} from "./continuous/gamma.js";
export { Cauchy, Gumbel, Laplace, Normal } from "./continuous/location_scale.js";
export {
  HalfCauchy,
  HalfNormal,
  InverseGamma,
  Kumaraswamy,
  LogisticNormal,
  LogNormal,
  Pareto,
  Weibull,
} from "./continuous/transformed.js";
export { Uniform } from "./continuous/uniform.js";
export { VonMises } from "./continuous/von_mises.js";
export {
  Categorical,
  Multinomial,
  type MultinomialOptions,
  OneHotCategorical,
  OneHotCategoricalStraightThrough,
} from "./discrete/categorical.js";
export {
  ExpRelaxedCategorical,
  LogitRelaxedBernoulli,
  RelaxedBernoulli,
  RelaxedOneHotCategorical,
} from "./discrete/relaxed.js";
export {
  Bernoulli,
  Binomial,
  type BinomialOptions,
  Geometric,
  NegativeBinomial,
  Poisson,
} from "./discrete/trials.js";
export { klDivergence, registerKl } from "./divergences/kl_divergence.js";
export { Beta, Dirichlet } from "./multivariate/dirichlet.js";
export { LKJCholesky, type LKJCholeskyOptions } from "./multivariate/lkj_cholesky.js";
export { LowRankMultivariateNormal } from "./multivariate/low_rank_multivariate_normal.js";
export {
  MultivariateNormal,
  type MultivariateNormalOptions,
} from "./multivariate/multivariate_normal.js";
export { Wishart, type WishartOptions } from "./multivariate/wishart.js";
export { ComposeTransform } from "./transforms/compose.js";
export {
  CatTransform,
  type CatTransformOptions,
  StackTransform,
  type StackTransformOptions,
} from "./transforms/joined.js";
export {
  AffineTransform,
  type AffineTransformOptions,
  CumulativeDistributionTransform,
  PowerTransform,
} from "./transforms/parametric.js";
export {
  AbsTransform,
  CorrCholeskyTransform,
  ExpTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SigmoidTransform,
  SoftmaxTransform,
  SoftplusTransform,
  StickBreakingTransform,
  TanhTransform,
} from "./transforms/plain.js";
export { IndependentTransform, ReshapeTransform } from "./transforms/shapes.js";
export {
  type CacheSize,
  Transform,
  type TransformArguments,
  type TransformOptions,
} from "./transforms/transform.js";
