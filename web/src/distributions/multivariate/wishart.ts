import { type Arguments, readArguments } from "../../arguments/read.js";
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
import { fail } from "../../runtime/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  shapeOf,
} from "../base/arguments.js";
import { ExponentialFamily } from "../base/exponential_family.js";
import { holdsEverywhere, limitsOf } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import {
  type Constraint,
  greaterThan,
  lowerCholesky,
  positiveDefinite,
} from "../constraints/constraints.js";
import { Chi2 } from "../continuous/gamma.js";
import {
  factorOf,
  halfLogDet,
  kSpreadOptions,
  readSpread,
  type SpreadArguments,
  spreadOf,
} from "./spread.js";

const kArguments = { df: parameter, ...kSpreadOptions, ...kDistributionOptions };

/** Options of `Wishart`. */
export interface WishartOptions extends DistributionOptions, Options<typeof kSpreadOptions> {}

/** Draws that are singular by rounding are made again so often. */
const kMostTries = 10;

/**
 * Distributions of positive definite matrices [..., n, n]: of the sum of `df` products x xᵀ of normal vectors x, whose
 * covariance exactly one matrix says. `df` is above n - 1.
 */
export class Wishart extends ExponentialFamily<
  Record<"df", Tensor> & Partial<Record<keyof typeof kSpreadOptions, Tensor>>
> {
  /** The factor of the covariance, without dimensions of the batch that only `df` has. @internal */
  readonly factor: Tensor;

  constructor(...given: [df: Parameter, ...rest: Arguments<SpreadArguments, WishartOptions>]) {
    const name = new.target.name;
    const { df, validateArgs, ...matrices } = readArguments(name, kArguments, given);
    const [which, matrix] = readSpread(name, matrices);
    const eventShape = matrix.shape.slice(-2);
    const [rows = 0, columns] = eventShape;
    if (matrix.ndim < 2 || rows !== columns) {
      const told = `${which} must be a square matrix or a batch of them, got shape [${matrix.shape}].`;
      fail("ShapeMismatch", name, told);
    }
    const { dtype, device } = matrix;
    const degrees = df instanceof Tensor ? df : zeros([], { dtype, device }).add(df);
    const batchShape = broadcastShapes(name, matrix.shape.slice(0, -2), degrees.shape);
    if (!holdsEverywhere(() => degrees.le(rows - 1).logicalNot())) {
      const told = `df: expected numbers above ${rows - 1}, for matrices of ${rows} rows, got ${degrees.detach()}.`;
      fail("InvalidArgument", name, told);
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
      df: greaterThan(this.rows - 1),
      covarianceMatrix: positiveDefinite,
      precisionMatrix: positiveDefinite,
      scaleTril: lowerCholesky,
    };
  }

  override get support(): Constraint {
    return positiveDefinite;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.ofMatrices(this.df).mul(this.covarianceMatrix);
  }

  /** NaN where `df` is not above n + 1. */
  override get mode(): Tensor {
    const factor = this.df.sub(this.rows + 1);
    return this.ofMatrices(select(factor.gt(0), factor, Number.NaN)).mul(this.covarianceMatrix);
  }

  override get variance(): Tensor {
    const covariance = this.covarianceMatrix;
    const diagonal = covariance.diagonal(0, -2, -1);
    const products = diagonal.unsqueeze(-1).mul(diagonal.unsqueeze(-2));
    return this.ofMatrices(this.df).mul(covariance.square().add(products));
  }

  override rsample(shape: SampleShape = []): Tensor {
    const sampleShape = shapeOf(this.whereIs("rsample"), shape);
    const sample = this.drawn(sampleShape);
    if (holdsEverywhere(() => this.support.check(sample))) return sample;
    return this.withoutSingular(sample, sampleShape);
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { df, factor, rows } = this;
    const trace = choleskySolve(value, factor.tril()).diagonal(0, -2, -1).sum(-1);
    return halfLogDet(factor)
      .add((rows * Math.LN2) / 2)
      .mul(df)
      .neg()
      .sub(mvlgamma(df.div(2), rows))
      .add(slogdet(value)[1].mul(df.sub(rows + 1).div(2)))
      .sub(trace.div(2));
  }

  override entropy(): Tensor {
    const { df, factor, rows } = this;
    return halfLogDet(factor)
      .add((rows * Math.LN2) / 2)
      .mul(rows + 1)
      .add(mvlgamma(df.div(2), rows))
      .sub(multivariateDigamma(df.div(2), rows).mul(df.sub(rows + 1).div(2)))
      .add(df.mul(rows / 2));
  }

  override get naturalParams(): readonly Tensor[] {
    return [this.precisionMatrix.div(-2), this.df.sub(this.rows + 1).div(2)];
  }

  override get meanCarrierMeasure(): number {
    return 0;
  }

  override logNormalizer(x: Tensor, y: Tensor): Tensor {
    const { rows } = this;
    const half = y.add((rows + 1) / 2);
    return half
      .mul(
        slogdet(x.mul(-2))[1]
          .neg()
          .add(Math.LN2 * rows),
      )
      .add(mvlgamma(half, rows));
  }

  private get rows(): number {
    return this.eventShape[0] as number;
  }

  // By Bartlett's decomposition, with PyTorch's draws.
  private drawn(sampleShape: readonly number[]): Tensor {
    const { df, factor, rows } = this;
    const { dtype, device } = factor;
    const degrees = df.unsqueeze(-1).sub(arange(rows, { dtype, device }));
    const squares = new Chi2(degrees, { validateArgs: false }).rsample(sampleShape);
    const noise = diagEmbed(squares.sqrt().clamp(limitsOf(dtype).eps));
    const chol = factor.matmul(noise.add(this.belowDiagonal(sampleShape)));
    return chol.matmul(chol.transpose(-2, -1));
  }

  private belowDiagonal(sampleShape: readonly number[]): Tensor {
    const { factor, rows } = this;
    const { dtype, device } = factor;
    const places: number[] = [];
    for (let i = 0; i < rows; i++) for (let j = 0; j < i; j++) places.push(i * rows + j);
    const batch = [...sampleShape, ...this.batchShape];
    const draws = standardNormal([...batch, places.length], factor);
    const none = zeros([...batch, rows * rows], { dtype, device });
    const indices = tensor(places, { dtype: "int64", device });
    return indexAdd(none, -1, indices, draws).reshape([...batch, rows, rows]);
  }

  // All of a draw are made again where one matrix of its batch is singular.
  private withoutSingular(sample: Tensor, sampleShape: readonly number[]): Tensor {
    let draws = sample.reshape([-1, ...this.batchShape, ...this.eventShape]);
    console.warn(
      `edgegrad: [${this.constructor.name}.rsample] a matrix drawn is singular: it is drawn again.`,
    );
    for (let i = 0; i < kMostTries; i++) {
      const regular = this.support
        .check(draws.detach())
        .reshape([draws.shape[0] as number, -1])
        .all(1);
      const places = nonzero(regular.logicalNot()).squeeze(1);
      if (places.numel === 0) break;
      draws = indexPut(draws, [places], this.drawn([places.numel]));
    }
    return draws.reshape([...sampleShape, ...this.batchShape, ...this.eventShape]);
  }

  // One number per matrix.
  private ofMatrices(perMatrix: Tensor): Tensor {
    return perMatrix.unsqueeze(-1).unsqueeze(-1);
  }
}

function multivariateDigamma(x: Tensor, rows: number): Tensor {
  const { dtype, device } = x;
  return digamma(x.unsqueeze(-1).sub(arange(rows, { dtype, device }).div(2))).sum(-1);
}
