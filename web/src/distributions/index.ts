// eg.distributions

export {
  AffineTransform,
  type AffineTransformOptions,
  PowerTransform,
} from "./affine_transforms.js";
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
export { ComposeTransform } from "./compose_transform.js";
export * as constraints from "./constraints.js";
export { Beta, Dirichlet } from "./dirichlet.js";
export { Distribution, type DistributionParts, type Parameters } from "./distribution.js";
export { Exponential } from "./exponential.js";
export { Chi2, Gamma, StudentT, type StudentTOptions } from "./gamma.js";
export { Independent } from "./independent.js";
export { klDivergence, registerKl } from "./kl.js";
export type { DistributionClass } from "./kl_pair.js";
export { Cauchy, Gumbel, Laplace } from "./location_scale.js";
export { CorrCholeskyTransform, LowerCholeskyTransform } from "./matrix_transforms.js";
export { MixtureSameFamily } from "./mixture.js";
export { MultivariateNormal, type MultivariateNormalOptions } from "./multivariate_normal.js";
export { HalfNormal, LogNormal, Normal } from "./normal.js";
export { Poisson } from "./poisson.js";
export {
  ExpRelaxedCategorical,
  LogitRelaxedBernoulli,
  RelaxedBernoulli,
  RelaxedOneHotCategorical,
} from "./relaxed.js";
export { SoftmaxTransform, StickBreakingTransform } from "./simplex_transforms.js";
export {
  CumulativeDistributionTransform,
  IndependentTransform,
  ReshapeTransform,
} from "./structured_transforms.js";
export { Transform } from "./transform.js";
export { TransformedDistribution } from "./transformed_distribution.js";
export {
  AbsTransform,
  ExpTransform,
  SigmoidTransform,
  SoftplusTransform,
  TanhTransform,
} from "./transforms.js";
export { Uniform } from "./uniform.js";
