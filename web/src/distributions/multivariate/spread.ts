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

/** Each under its name; one of them is there. */
export type Spread = {
  covarianceMatrix?: Tensor;
  precisionMatrix?: Tensor;
  scaleTril?: Tensor;
};

/** How constructors take them by position. */
export type SpreadArguments = [
  covarianceMatrix: Tensor | null,
  precisionMatrix: Tensor | null,
  scaleTril: Tensor | null,
  validateArgs: boolean | null,
];

/** What a distribution that has them knows. */
interface HasSpread {
  readonly factor: Tensor;
  readonly batchShape: readonly number[];
}

const kOfFactor = {
  covarianceMatrix: covarianceOf,
  precisionMatrix: precisionOf,
  scaleTril: itself,
};

/** Returns one of them for the whole batch: as it was given, or made of the factor. */
export function spreadOf(
  which: keyof Spread,
  given: Spread,
  { factor, batchShape }: HasSpread,
): Tensor {
  return (
    given[which] ?? kOfFactor[which](factor).expand([...batchShape, ...factor.shape.slice(-2)])
  );
}

/** Returns the one that is given, with its name. */
export function readSpread(
  where: string,
  matrices: Record<keyof Spread, Tensor | null>,
): [keyof Spread, Tensor] {
  const given = Object.entries(matrices).filter(([, matrix]) => matrix !== null);
  const [which, matrix] = given[0] ?? [];
  if (given.length !== 1 || !matrix) {
    const told =
      "Exactly one of covarianceMatrix or precisionMatrix or scaleTril may be specified.";
    return fail("InvalidArgument", where, told);
  }
  return [which as keyof Spread, matrix];
}

/** Returns the lower triangular factor of the covariance. */
export function factorOf(which: keyof Spread, matrix: Tensor): Tensor {
  if (which === "scaleTril") return matrix;
  if (which === "covarianceMatrix") return matrix.cholesky();
  // Turned round, the factor of the inverse is the inverse of the factor.
  const turned = matrix.flip([-2, -1]).cholesky().flip([-2, -1]).transpose(-2, -1);
  return solveLower(turned, identityLike(matrix)).tril();
}

function itself(factor: Tensor): Tensor {
  return factor;
}

function covarianceOf(factor: Tensor): Tensor {
  return factor.matmul(factor.transpose(-2, -1));
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
