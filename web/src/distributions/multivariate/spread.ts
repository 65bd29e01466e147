// The matrix that says how wide a distribution is: a covariance, its inverse, or its lower triangular factor.

import { eye, solve, solveTriangular } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";

/** The options of which one is given. */
export const kSpreadOptions = {
  /** The covariance; this or one of the next two. */
  covarianceMatrix: tensorRule.orNull(),
  /** The inverse of the covariance. */
  precisionMatrix: tensorRule.orNull(),
  /** The lower triangular L of the covariance L Lᵀ, with a positive diagonal. */
  scaleTril: tensorRule.orNull(),
};

type SpreadName = keyof typeof kSpreadOptions;

/** The matrices as they were given, one of them. */
export type SpreadMatrices = Readonly<Record<SpreadName, Tensor | null>>;

/** How constructors take them by position. */
export type SpreadArguments = [
  covarianceMatrix: Tensor | null,
  precisionMatrix: Tensor | null,
  scaleTril: Tensor | null,
  validateArgs: boolean | null,
];

/** A distribution that has them. */
export interface HasFactor {
  /** The lower triangular factor, without dimensions of the batch that only other parameters have. @internal */
  readonly factor: Tensor;
}

const kOfFactor = {
  covarianceMatrix: (factor: Tensor) => factor.matmul(factor.transpose(-2, -1)),
  precisionMatrix: precisionOf,
  scaleTril: (factor: Tensor) => factor,
};

/** Returns one of the matrices for the whole batch, made of the factor. */
export function spreadOf(
  which: SpreadName,
  { factor, batchShape }: HasFactor & { readonly batchShape: readonly number[] },
): Tensor {
  return kOfFactor[which](factor).expand([...batchShape, ...factor.shape.slice(-2)]);
}

/** Returns the one that is given, with its name. */
export function readSpread(where: string, matrices: SpreadMatrices): [SpreadName, Tensor] {
  const names = Object.keys(kSpreadOptions) as SpreadName[];
  const [which, other] = names.filter((name) => matrices[name] !== null);
  if (which !== undefined && other === undefined) return [which, matrices[which] as Tensor];
  const got = which === undefined ? "none" : `${which} and ${other}`;
  const told = `expected one of covarianceMatrix, precisionMatrix and scaleTril, got ${got}.`;
  return fail("InvalidArgument", where, told);
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

/** Returns half the logarithm of the determinant of the covariance that a factor makes. */
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
