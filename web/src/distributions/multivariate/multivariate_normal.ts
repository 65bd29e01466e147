// The multivariate normal distribution, and the matrix of its spread: a covariance, its inverse, or its factor.

import type { Forms } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { eye, solve, solveTriangular } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type DistributionOptions,
  kDistributionOptions,
} from "../base/arguments.js";
import { distribution } from "../base/declaration.js";
import { matrixTimesVector } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import { lowerCholesky, positiveDefinite, realVector } from "../constraints/constraints.js";

/** The options of which exactly one is given. */
export const kSpreadOptions = {
  /** The covariance; this, `precisionMatrix` or `scaleTril`. */
  covarianceMatrix: tensorRule.orNull(),
  /** The inverse of the covariance. */
  precisionMatrix: tensorRule.orNull(),
  /** The lower triangular L of the covariance L Lᵀ, with a positive diagonal. */
  scaleTril: tensorRule.orNull(),
};

type SpreadName = keyof typeof kSpreadOptions;

/** The matrices as given; all but one are null. */
export type SpreadMatrices = Readonly<Record<SpreadName, Tensor | null>>;

/** The matrices as positional arguments. */
export type SpreadArguments = [
  covarianceMatrix: Tensor | null,
  precisionMatrix: Tensor | null,
  scaleTril: Tensor | null,
  validateArgs: boolean | null,
];

/** A distribution with a covariance. */
export interface HasFactor {
  /** The lower triangular factor, not expanded to batch dimensions that only other parameters have. @internal */
  readonly factor: Tensor;
}

const kOfFactor = {
  covarianceMatrix: (factor: Tensor) => factor.matmul(factor.transpose(-2, -1)),
  precisionMatrix: precisionOf,
  scaleTril: (factor: Tensor) => factor,
};

/** Returns one of the matrices, computed from the factor, for the whole batch. */
export function spreadOf(
  which: SpreadName,
  { factor, batchShape }: { readonly factor: Tensor; readonly batchShape: readonly number[] },
): Tensor {
  return kOfFactor[which](factor).expand([...batchShape, ...factor.shape.slice(-2)]);
}

/** Returns the name and the value of the matrix that was given. */
export function readSpread(where: string, matrices: SpreadMatrices): [SpreadName, Tensor] {
  const names = Object.keys(kSpreadOptions) as SpreadName[];
  const [which, other] = names.filter((name) => matrices[name] !== null);
  if (which !== undefined && other === undefined) return [which, matrices[which] as Tensor];
  const got = which === undefined ? "none" : `${which} and ${other}`;
  const message = `expected one of covarianceMatrix, precisionMatrix and scaleTril, got ${got}.`;
  return fail("InvalidArgument", where, message);
}

/** Returns the lower triangular factor of the covariance. */
export function factorOf(which: SpreadName, matrix: Tensor): Tensor {
  if (which === "scaleTril") return matrix;
  if (which === "covarianceMatrix") return matrix.cholesky();
  // With rows and columns in reverse order, the factor of the inverse is the inverse of the factor.
  const reversed = matrix.flip([-2, -1]).cholesky().flip([-2, -1]).transpose(-2, -1);
  return solveLower(reversed, identityLike(matrix)).tril();
}

function precisionOf(factor: Tensor): Tensor {
  const inverse = solve(factor, identityLike(factor));
  return inverse.transpose(-2, -1).matmul(inverse);
}

/** Returns half the log determinant of the covariance with this factor. */
export function halfLogDet(factor: Tensor): Tensor {
  return factor.diagonal(0, -2, -1).log().sum(-1);
}

/** Returns X with L X = B, for a lower triangular L. */
export function solveLower(lower: Tensor, b: Tensor): Tensor {
  return solveTriangular(lower, b, false);
}

function identityLike(matrix: Tensor): Tensor {
  return eye(matrix.shape.at(-1) as number, { dtype: matrix.dtype, device: matrix.device });
}

/** Options of `MultivariateNormal`. */
export interface MultivariateNormalOptions
  extends DistributionOptions,
    Options<typeof kSpreadOptions> {}

/** Multivariate normal distribution of mean `loc`; exactly one of the matrices is given. */
export class MultivariateNormal extends distribution({
  given: {} as [loc: Tensor, ...rest: Forms<SpreadArguments, MultivariateNormalOptions>],
  arguments: { loc: tensorRule, ...kSpreadOptions, ...kDistributionOptions },
  parameters: {
    /** The mean. */
    loc: realVector,
    /** The covariance. */
    covarianceMatrix: positiveDefinite,
    /** The inverse of the covariance. */
    precisionMatrix: positiveDefinite,
    /** The lower triangular factor of the covariance. */
    scaleTril: lowerCholesky,
  },
  parts(name, { loc, ...call }: { loc: Tensor } & SpreadMatrices) {
    const [which, matrix] = readSpread(name, call);
    checkShapes(name, loc, which, matrix);
    const eventShape = loc.shape.slice(-1);
    const batchShape = broadcastShapes(name, matrix.shape.slice(0, -2), loc.shape.slice(0, -1));
    const parameters = {
      loc: loc.expand([...batchShape, ...eventShape]),
      [which]: matrix.expand([...batchShape, ...eventShape, ...eventShape]),
    };
    const fields = (): HasFactor => ({ factor: factorOf(which, matrix) });
    return { parameters, batchShape, eventShape, fields };
  },
  parameter: (self, name, own) => own[name] ?? spreadOf(name, self),
  support: realVector,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  variance: ({ factor, loc }) => factor.square().sum(-1).expand(loc.shape),
  rsample: ({ factor, loc }, shape) =>
    loc.add(matrixTimesVector(factor, standardNormal(shape, loc))),
  logProb({ eventShape, factor, loc }, value) {
    const logTwoPis = (eventShape[0] as number) * Math.log(2 * Math.PI);
    const distance = mahalanobis(factor, value.sub(loc));
    return distance.add(logTwoPis).mul(-0.5).sub(halfLogDet(factor));
  },
  entropy({ batchShape, eventShape, factor }) {
    const ofUnit = 0.5 * (eventShape[0] as number) * (1 + Math.log(2 * Math.PI));
    return halfLogDet(factor).add(ofUnit).expand(batchShape);
  },
}) {}

/** Returns the squared Mahalanobis norm of vectors for the covariance with this lower triangular factor. */
export function mahalanobis(factor: Tensor, vectors: Tensor): Tensor {
  return solveLower(factor, vectors.unsqueeze(-1)).square().sum([-2, -1]);
}

function checkShapes(where: string, loc: Tensor, which: string, matrix: Tensor): void {
  if (loc.ndim < 1) fail("ShapeMismatch", where, "loc: expected at least one dimension, got none.");
  const [rows, columns] = matrix.shape.slice(-2);
  const size = loc.shape.at(-1);
  if (rows === columns && rows === size) return;
  const message = `${which}: expected shape [..., ${size}, ${size}], as loc has ${size} elements, got [${matrix.shape}].`;
  fail("ShapeMismatch", where, message);
}
