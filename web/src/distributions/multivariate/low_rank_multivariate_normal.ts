import { readArguments } from "../../arguments/read.js";
import { diagEmbed } from "../../composites/index.js";
import { eye, solveTriangular } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  kDistributionOptions,
  type SampleShape,
  shapeOf,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { matrixTimesVector } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import {
  type Constraint,
  independent,
  positive,
  real,
  realVector,
} from "../constraints/constraints.js";
import { mahalanobis } from "./multivariate_normal.js";
import { halfLogDet } from "./spread.js";

const kArguments = {
  loc: tensorRule,
  covFactor: tensorRule,
  covDiag: tensorRule,
  ...kDistributionOptions,
};

/** A covariance W Wᵀ + D: W [..., n, rank], the diagonal D [..., n], and the factor of 1 + Wᵀ D⁻¹ W. */
export interface LowRank {
  readonly factor: Tensor;
  readonly diag: Tensor;
  readonly capacitance: Tensor;
}

/** Normal distributions of vectors of mean `loc` and covariance W Wᵀ + D, for a W with few columns. */
export class LowRankMultivariateNormal extends Distribution<
  Record<"loc" | "covFactor" | "covDiag", Tensor>
> {
  /** The covariance, without dimensions of the batch that only others have. @internal */
  readonly lowRank: LowRank;

  constructor(...given: [loc: Tensor, covFactor: Tensor, covDiag: Tensor, ...rest: Validation]) {
    const name = new.target.name;
    const { loc, covFactor, covDiag, validateArgs } = readArguments(name, kArguments, given);
    checkShapes(name, loc, covFactor, covDiag);
    const batchShape = broadcastShapes(
      name,
      loc.shape.slice(0, -1),
      covFactor.shape.slice(0, -2),
      covDiag.shape.slice(0, -1),
    );
    const eventShape = loc.shape.slice(-1);
    const vector = [...batchShape, ...eventShape];
    const parameters = {
      loc: loc.expand(vector),
      covFactor: covFactor.expand([...vector, ...covFactor.shape.slice(-1)]),
      covDiag: covDiag.expand(vector),
    };
    super({ parameters, batchShape, eventShape, validateArgs });
    const scaled = dividedByDiag(covFactor, covDiag);
    const product = scaled.matmul(covFactor);
    const { dtype, device } = product;
    const identity = eye(product.shape.at(-1) as number, { dtype, device });
    const capacitance = product.add(identity).cholesky();
    this.lowRank = { factor: covFactor, diag: covDiag, capacitance };
  }

  /** The mean. */
  get loc(): Tensor {
    return this.parameters.loc;
  }

  /** W. */
  get covFactor(): Tensor {
    return this.parameters.covFactor;
  }

  /** The diagonal of D. */
  get covDiag(): Tensor {
    return this.parameters.covDiag;
  }

  /** The covariance. */
  get covarianceMatrix(): Tensor {
    const { factor, diag } = this.lowRank;
    return this.expanded(factor.matmul(factor.transpose(-2, -1)).add(diagEmbed(diag)));
  }

  /** The inverse of the covariance. */
  get precisionMatrix(): Tensor {
    const inner = whitened(this.lowRank);
    const inverse = diagEmbed(this.lowRank.diag.reciprocal());
    return this.expanded(inverse.sub(inner.transpose(-2, -1).matmul(inner)));
  }

  /** The lower triangular factor of the covariance. */
  get scaleTril(): Tensor {
    const { factor, diag } = this.lowRank;
    const root = diag.sqrt().unsqueeze(-1);
    const scaled = factor.div(root);
    const product = scaled.matmul(scaled.transpose(-2, -1));
    const { dtype, device } = product;
    const identity = eye(product.shape.at(-1) as number, { dtype, device });
    return this.expanded(root.mul(product.add(identity).cholesky()));
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return {
      loc: realVector,
      covFactor: independent(real, 2),
      covDiag: independent(positive, 1),
    };
  }

  override get support(): Constraint {
    return realVector;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.loc;
  }

  override get mode(): Tensor {
    return this.loc;
  }

  override get variance(): Tensor {
    const { factor, diag } = this.lowRank;
    return factor.square().sum(-1).add(diag).expand(this.loc.shape);
  }

  override rsample(shape: SampleShape = []): Tensor {
    const { factor, diag } = this.lowRank;
    const sampleShape = shapeOf(this.whereIs("rsample"), shape);
    const rank = factor.shape.at(-1) as number;
    const ofFactor = standardNormal([...sampleShape, ...this.batchShape, rank], this.loc);
    const ofDiag = standardNormal(this.extendedShape("rsample", shape), this.loc);
    return this.loc.add(matrixTimesVector(factor, ofFactor)).add(diag.sqrt().mul(ofDiag));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return lowRankDistance(this.lowRank, value.sub(this.loc))
      .add(lowRankLogDet(this.lowRank))
      .add((this.eventShape[0] as number) * Math.log(2 * Math.PI))
      .mul(-0.5);
  }

  override entropy(): Tensor {
    const count = this.eventShape[0] as number;
    const entropy = lowRankLogDet(this.lowRank)
      .add(count * (1 + Math.log(2 * Math.PI)))
      .mul(0.5);
    return entropy.expand(this.batchShape);
  }

  private expanded(matrix: Tensor): Tensor {
    return matrix.expand([...this.batchShape, ...this.eventShape, ...this.eventShape]);
  }
}

/** Returns the logarithm of the determinant of a covariance. */
export function lowRankLogDet({ diag, capacitance }: LowRank): Tensor {
  return halfLogDet(capacitance).mul(2).add(diag.log().sum(-1));
}

/** Returns the squared length of vectors, in units of a covariance. */
export function lowRankDistance({ factor, diag, capacitance }: LowRank, x: Tensor): Tensor {
  const inner = matrixTimesVector(dividedByDiag(factor, diag), x);
  return x.square().div(diag).sum(-1).sub(mahalanobis(capacitance, inner));
}

/** Returns A with the inverse D⁻¹ - Aᵀ A of a covariance. */
export function whitened({ factor, diag, capacitance }: LowRank): Tensor {
  return solveTriangular(capacitance, dividedByDiag(factor, diag), false);
}

// Wᵀ D⁻¹.
function dividedByDiag(factor: Tensor, diag: Tensor): Tensor {
  return factor.transpose(-2, -1).div(diag.unsqueeze(-2));
}

function checkShapes(where: string, loc: Tensor, factor: Tensor, diag: Tensor): void {
  if (loc.ndim < 1) fail("ShapeMismatch", where, "loc must be at least one-dimensional.");
  const size = loc.shape.at(-1);
  if (factor.ndim < 2 || factor.shape.at(-2) !== size) {
    const told = `covFactor must be a batch of matrices with shape ${size} x m, got [${factor.shape}].`;
    fail("ShapeMismatch", where, told);
  }
  if (diag.ndim < 1 || diag.shape.at(-1) !== size) {
    const told = `covDiag must be a batch of vectors of ${size} elements, got [${diag.shape}].`;
    fail("ShapeMismatch", where, told);
  }
}
