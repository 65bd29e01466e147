import { type MixedArguments, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { choleskySolve, diagEmbed, mvlgamma } from "../../composites/index.js";
import {
  arange,
  digamma,
  indexAdd,
  indexPut,
  nonzero,
  where as select,
  slogdet,
  zeros,
} from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
} from "../base/arguments.js";
import { withFormulas } from "../base/declaration.js";
import { ExponentialFamily } from "../base/exponential_family.js";
import { holdsEverywhere, limitsOf } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import { greaterThan, lowerCholesky, positiveDefinite } from "../constraints/constraints.js";
import { Chi2 } from "../continuous/gamma.js";
import {
  factorOf,
  halfLogDet,
  kSpreadOptions,
  readSpread,
  type SpreadArguments,
  spreadOf,
} from "./multivariate_normal.js";

const kArguments = { df: parameter, ...kSpreadOptions, ...kDistributionOptions };

/** Options of `Wishart`. */
export interface WishartOptions extends DistributionOptions, Options<typeof kSpreadOptions> {}

/** How often draws that are singular because of rounding are repeated at most. */
const kMostTries = 10;

type Given = Record<"df", Tensor> & Partial<Record<keyof typeof kSpreadOptions, Tensor>>;

interface Matrices extends ExponentialFamily {
  readonly df: Tensor;
  readonly factor: Tensor;
  readonly covarianceMatrix: Tensor;
}

/**
 * Wishart distribution of positive definite matrices [..., n, n]: the sum of `df` products x xᵀ of normal vectors x, whose
 * covariance is given by exactly one of the matrices. `df` must be greater than n - 1.
 */
export class Wishart extends withFormulas({
  base: ExponentialFamily,
  support: positiveDefinite,
  mean: (self: Matrices) => ofMatrices(self.df).mul(self.covarianceMatrix),
  variance(self: Matrices) {
    const covariance = self.covarianceMatrix;
    const diagonal = covariance.diagonal(0, -2, -1);
    const products = diagonal.unsqueeze(-1).mul(diagonal.unsqueeze(-2));
    return ofMatrices(self.df).mul(covariance.square().add(products));
  },
  rsample(self: Matrices, _shape, sampleShape) {
    const sample = drawn(self, sampleShape);
    if (holdsEverywhere(() => self.support.check(sample))) return sample;
    return withoutSingular(self, sample, sampleShape);
  },
  logProb(self: Matrices, value) {
    const { df, factor } = self;
    const rows = rowsOf(self);
    const trace = choleskySolve(value, factor.tril()).diagonal(0, -2, -1).sum(-1);
    const logScale = halfLogDet(factor).add((rows * Math.LN2) / 2);
    const logNormalizer = logScale
      .mul(df)
      .neg()
      .sub(mvlgamma(df.div(2), rows));
    const logPowers = slogdet(value)[1].mul(df.sub(rows + 1).div(2));
    return logNormalizer.add(logPowers).sub(trace.div(2));
  },
  entropy(self: Matrices) {
    const { df, factor } = self;
    const rows = rowsOf(self);
    const logScale = halfLogDet(factor).add((rows * Math.LN2) / 2);
    const logNormalizer = logScale.mul(rows + 1).add(mvlgamma(df.div(2), rows));
    const spread = multivariateDigamma(df.div(2), rows).mul(df.sub(rows + 1).div(2));
    return logNormalizer.sub(spread).add(df.mul(rows / 2));
  },
})<Given> {
  /** The factor of the covariance, not expanded to batch dimensions that only `df` has. @internal */
  readonly factor: Tensor;

  constructor(...given: [df: Parameter, ...positions: Partial<SpreadArguments>]);
  constructor(df: Parameter, ...rest: MixedArguments<SpreadArguments, WishartOptions>);
  constructor(df: Parameter, options?: WishartOptions);
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const { df, validateArgs, ...matrices } = readArguments(name, kArguments, given);
    const [which, matrix] = readSpread(name, matrices);
    const eventShape = matrix.shape.slice(-2);
    const [rows = 0, columns] = eventShape;
    if (matrix.ndim < 2 || rows !== columns) {
      const message = `${which}: expected a square matrix or a batch of them, got shape [${matrix.shape}].`;
      fail("ShapeMismatch", name, message);
    }
    const { dtype, device } = matrix;
    const degrees = df instanceof Tensor ? df : zeros([], { dtype, device }).add(df);
    const batchShape = broadcastShapes(name, matrix.shape.slice(0, -2), degrees.shape);
    if (!holdsEverywhere(() => degrees.le(rows - 1).logicalNot())) {
      const message = `df: expected numbers above ${rows - 1}, for matrices of ${rows} rows, got ${degrees.detach()}.`;
      fail("InvalidArgument", name, message);
    }
    const parameters = {
      df: degrees.expand(batchShape),
      [which]: matrix.expand([...batchShape, ...eventShape]),
    };
    super({ parameters, batchShape, eventShape, validateArgs });
    this.factor = factorOf(which, matrix);
  }

  /** The degrees of freedom. */
  get df(): Tensor {
    return this.parameters.df;
  }

  /** The covariance of the vectors. */
  get covarianceMatrix(): Tensor {
    return this.parameters.covarianceMatrix ?? spreadOf("covarianceMatrix", this);
  }

  /** The inverse of their covariance. */
  get precisionMatrix(): Tensor {
    return this.parameters.precisionMatrix ?? spreadOf("precisionMatrix", this);
  }

  /** The lower triangular factor of their covariance. */
  get scaleTril(): Tensor {
    return this.parameters.scaleTril ?? spreadOf("scaleTril", this);
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return {
      df: greaterThan(rowsOf(this) - 1),
      covarianceMatrix: positiveDefinite,
      precisionMatrix: positiveDefinite,
      scaleTril: lowerCholesky,
    };
  }

  /** The mode; NaN where `df` is not greater than n + 1. */
  override get mode(): Tensor {
    const factor = this.df.sub(rowsOf(this) + 1);
    return ofMatrices(select(factor.gt(0), factor, Number.NaN)).mul(this.covarianceMatrix);
  }

  override get naturalParams(): readonly Tensor[] {
    return [this.precisionMatrix.div(-2), this.df.sub(rowsOf(this) + 1).div(2)];
  }

  override get meanCarrierMeasure(): number {
    return 0;
  }

  override logNormalizer(x: Tensor, y: Tensor): Tensor {
    const rows = rowsOf(this);
    const half = y.add((rows + 1) / 2);
    const logDet = slogdet(x.mul(-2))[1].neg();
    return half.mul(logDet.add(Math.LN2 * rows)).add(mvlgamma(half, rows));
  }
}

function rowsOf({ eventShape }: Matrices): number {
  return eventShape[0] as number;
}

// Adds two dimensions, so that one number per matrix broadcasts to the matrix.
function ofMatrices(perMatrix: Tensor): Tensor {
  return perMatrix.unsqueeze(-1).unsqueeze(-1);
}

// Bartlett's decomposition, with the same random numbers as PyTorch.
function drawn(self: Matrices, sampleShape: readonly number[]): Tensor {
  const { df, factor } = self;
  const { dtype, device } = factor;
  const degrees = df.unsqueeze(-1).sub(arange(rowsOf(self), { dtype, device }));
  const squares = new Chi2(degrees, { validateArgs: false }).rsample(sampleShape);
  const noise = diagEmbed(squares.sqrt().clamp(limitsOf(dtype).eps));
  const chol = factor.matmul(noise.add(belowDiagonal(self, sampleShape)));
  return chol.matmul(chol.transpose(-2, -1));
}

function belowDiagonal(self: Matrices, sampleShape: readonly number[]): Tensor {
  const { batchShape, factor } = self;
  const { dtype, device } = factor;
  const rows = rowsOf(self);
  const places: number[] = [];
  for (let i = 0; i < rows; i++) for (let j = 0; j < i; j++) places.push(i * rows + j);
  const batch = [...sampleShape, ...batchShape];
  const draws = standardNormal([...batch, places.length], factor);
  const none = zeros([...batch, rows * rows], { dtype, device });
  const indices = tensor(places, { dtype: "int64", device });
  return indexAdd(none, -1, indices, draws).reshape([...batch, rows, rows]);
}

// A sample with a singular matrix is drawn again for the whole batch.
function withoutSingular(self: Matrices, sample: Tensor, sampleShape: readonly number[]): Tensor {
  let draws = sample.reshape([-1, ...self.batchShape, ...self.eventShape]);
  const where = `${self.constructor.name}.rsample`;
  console.warn(`edgegrad: [${where}] a sample is singular and is drawn again.`);
  for (let i = 0; i < kMostTries; i++) {
    const isRegular = self.support.check(draws.detach());
    const regular = isRegular.reshape([draws.shape[0] as number, -1]).all(1);
    const places = nonzero(regular.logicalNot()).squeeze(1);
    if (places.numel === 0) break;
    draws = indexPut(draws, [places], drawn(self, [places.numel]));
  }
  return draws.reshape([...sampleShape, ...self.batchShape, ...self.eventShape]);
}

function multivariateDigamma(x: Tensor, rows: number): Tensor {
  const { dtype, device } = x;
  return digamma(x.unsqueeze(-1).sub(arange(rows, { dtype, device }).div(2))).sum(-1);
}
