import { diagEmbed } from "../../composites/index.js";
import { eye, solveTriangular } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes, kDistributionOptions } from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { matrixTimesVector } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import { independent, positive, real, realVector } from "../constraints/constraints.js";
import { halfLogDet, mahalanobis } from "./multivariate_normal.js";

/** A covariance W Wᵀ + D: W [..., n, rank], the diagonal D [..., n], and the Cholesky factor of I + Wᵀ D⁻¹ W. */
export interface LowRank {
  readonly factor: Tensor;
  readonly diag: Tensor;
  readonly capacitance: Tensor;
}

interface HasLowRank {
  /** The covariance, not expanded to batch dimensions that only other parameters have. @internal */
  readonly lowRank: LowRank;
}

/** Multivariate normal distribution of mean `loc` and covariance W Wᵀ + D, where W has few columns. */
export class LowRankMultivariateNormal extends distribution({
  given: {} as Given<[loc: Tensor, covFactor: Tensor, covDiag: Tensor]>,
  arguments: {
    loc: tensorRule,
    covFactor: tensorRule,
    covDiag: tensorRule,
    ...kDistributionOptions,
  },
  parameters: {
    /** The mean. */
    loc: realVector,
    /** W. */
    covFactor: () => independent(real, 2),
    /** The diagonal of D. */
    covDiag: () => independent(positive, 1),
  },
  parts(name, { loc, covFactor, covDiag }: Record<"loc" | "covFactor" | "covDiag", Tensor>) {
    checkShapes(name, loc, covFactor, covDiag);
    const batches = [
      loc.shape.slice(0, -1),
      covFactor.shape.slice(0, -2),
      covDiag.shape.slice(0, -1),
    ];
    const batchShape = broadcastShapes(name, ...batches);
    const eventShape = loc.shape.slice(-1);
    const vector = [...batchShape, ...eventShape];
    const parameters = {
      loc: loc.expand(vector),
      covFactor: covFactor.expand([...vector, ...covFactor.shape.slice(-1)]),
      covDiag: covDiag.expand(vector),
    };
    const fields = (): HasLowRank => ({ lowRank: lowRankOf(covFactor, covDiag) });
    return { parameters, batchShape, eventShape, fields };
  },
  support: realVector,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  variance: ({ loc, lowRank: { factor, diag } }) =>
    factor.square().sum(-1).add(diag).expand(loc.shape),
  rsample({ loc, batchShape, lowRank: { factor, diag } }, shape, sampleShape) {
    const rank = factor.shape.at(-1) as number;
    const ofFactor = standardNormal([...sampleShape, ...batchShape, rank], loc);
    const ofDiag = standardNormal(shape, loc);
    return loc.add(matrixTimesVector(factor, ofFactor)).add(diag.sqrt().mul(ofDiag));
  },
  logProb({ eventShape, loc, lowRank }, value) {
    const distance = lowRankDistance(lowRank, value.sub(loc)).add(lowRankLogDet(lowRank));
    return distance.add((eventShape[0] as number) * Math.log(2 * Math.PI)).mul(-0.5);
  },
  entropy({ batchShape, eventShape, lowRank }) {
    const ofUnit = (eventShape[0] as number) * (1 + Math.log(2 * Math.PI));
    return lowRankLogDet(lowRank).add(ofUnit).mul(0.5).expand(batchShape);
  },
}) {
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
    return this.expanded(
      root.mul(plusIdentity(scaled.matmul(scaled.transpose(-2, -1))).cholesky()),
    );
  }

  private expanded(matrix: Tensor): Tensor {
    return matrix.expand([...this.batchShape, ...this.eventShape, ...this.eventShape]);
  }
}

function lowRankOf(factor: Tensor, diag: Tensor): LowRank {
  const product = dividedByDiag(factor, diag).matmul(factor);
  return { factor, diag, capacitance: plusIdentity(product).cholesky() };
}

function plusIdentity(matrix: Tensor): Tensor {
  const { dtype, device } = matrix;
  return matrix.add(eye(matrix.shape.at(-1) as number, { dtype, device }));
}

/** Returns the log determinant of a covariance. */
export function lowRankLogDet({ diag, capacitance }: LowRank): Tensor {
  return halfLogDet(capacitance).mul(2).add(diag.log().sum(-1));
}

/** Returns the squared Mahalanobis norm of vectors for a covariance. */
export function lowRankDistance({ factor, diag, capacitance }: LowRank, x: Tensor): Tensor {
  const inner = matrixTimesVector(dividedByDiag(factor, diag), x);
  return x.square().div(diag).sum(-1).sub(mahalanobis(capacitance, inner));
}

/** Returns A such that D⁻¹ - Aᵀ A is the inverse of a covariance. */
export function whitened({ factor, diag, capacitance }: LowRank): Tensor {
  return solveTriangular(capacitance, dividedByDiag(factor, diag), false);
}

// Wᵀ D⁻¹.
function dividedByDiag(factor: Tensor, diag: Tensor): Tensor {
  return factor.transpose(-2, -1).div(diag.unsqueeze(-2));
}

function checkShapes(where: string, loc: Tensor, factor: Tensor, diag: Tensor): void {
  if (loc.ndim < 1) fail("ShapeMismatch", where, "loc: expected at least one dimension, got none.");
  const size = loc.shape.at(-1);
  if (factor.ndim < 2 || factor.shape.at(-2) !== size) {
    const message = `covFactor: expected shape [..., ${size}, rank], got [${factor.shape}].`;
    fail("ShapeMismatch", where, message);
  }
  if (diag.ndim < 1 || diag.shape.at(-1) !== size) {
    const message = `covDiag: expected shape [..., ${size}], got [${diag.shape}].`;
    fail("ShapeMismatch", where, message);
  }
}
