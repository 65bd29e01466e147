// Constraints: the domains of parameters and the supports of distributions.

import { integer, listOf, size } from "../../arguments/rule.js";
import { full, cat as joined, stack as stacked } from "../../generated/ops.js";
import { finfo } from "../../ops/number_types.js";
import { isAllTrue } from "../../ops/samples.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Parameter, partLengths } from "../base/arguments.js";
import {
  bounded,
  Constraint,
  constraint,
  constraintRule,
  kDiscrete,
  kMatrices,
  kNumbers,
  kVectors,
} from "./constraint.js";

export { Constraint, type ConstraintKind } from "./constraint.js";

const isWhole = (value: Tensor): Tensor => value.remainder(1).eq(0);
const isBit = (value: Tensor): Tensor => value.eq(0).logicalOr(value.eq(1));
const isLowerTriangular = (value: Tensor): Tensor => value.tril().eq(value).all([-2, -1]);
const isWithin = (value: Tensor, low: Parameter, high: Parameter): Tensor =>
  value.ge(low).logicalAnd(value.le(high));

/** Any number but NaN. */
export const real = constraint("real", kNumbers, (value) => value.eq(value));

/** 0 or 1. */
export const boolean = constraint("boolean", kDiscrete, isBit);

/** A placeholder: the constraint depends on other parameters and is not checked. */
export const dependent = constraint("dependent", kNumbers, (value) =>
  value.eq(value).logicalOr(true),
);

/** Numbers greater than a bound. */
export function greaterThan(lowerBound: Parameter): Constraint {
  return bounded("greaterThan", { lowerBound }, kNumbers, (value) => value.gt(lowerBound));
}

/** Numbers greater than or equal to a bound. */
export function greaterThanEq(lowerBound: Parameter): Constraint {
  return bounded("greaterThanEq", { lowerBound }, kNumbers, (value) => value.ge(lowerBound));
}

/** Numbers less than a bound. */
export function lessThan(upperBound: Parameter): Constraint {
  return bounded("lessThan", { upperBound }, kNumbers, (value) => value.lt(upperBound));
}

/** Numbers from one bound to another, both inclusive. */
export function interval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  const holds = (value: Tensor) => isWithin(value, lowerBound, upperBound);
  return bounded("interval", { lowerBound, upperBound }, kNumbers, holds);
}

/** Numbers from one bound, inclusive, to another, exclusive. */
export function halfOpenInterval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  const holds = (value: Tensor) => value.ge(lowerBound).logicalAnd(value.lt(upperBound));
  return bounded("halfOpenInterval", { lowerBound, upperBound }, kNumbers, holds);
}

/** Integers from one bound to another, both inclusive. */
export function integerInterval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  const holds = (value: Tensor) =>
    isWhole(value).logicalAnd(isWithin(value, lowerBound, upperBound));
  return bounded("integerInterval", { lowerBound, upperBound }, kDiscrete, holds);
}

/** Values with `reinterpretedBatchNdims` more dimensions, all of whose elements satisfy `base`. */
export function independent(base: Constraint, reinterpretedBatchNdims: number): Constraint {
  constraintRule.check("independent", "base", base);
  size.check("independent", "reinterpretedBatchNdims", reinterpretedBatchNdims);
  const dims = Array.from({ length: reinterpretedBatchNdims }, (_, i) => -1 - i);
  const holds = (value: Tensor) =>
    dims.length > 0 ? base.check(value).all(dims) : base.check(value);
  const eventDim = base.eventDim + reinterpretedBatchNdims;
  const made = [base, reinterpretedBatchNdims];
  const kind = { eventDim, isDiscrete: base.isDiscrete, made };
  return new Constraint(`independent(${base}, ${reinterpretedBatchNdims})`, holds, kind);
}

/** Numbers greater than 0. */
export const positive = constraint("positive", kNumbers, (value) => value.gt(0));

/** Numbers greater than or equal to 0. */
export const nonnegative = constraint("nonnegative", kNumbers, (value) => value.ge(0));

/** Integers greater than or equal to 0. */
export const nonnegativeInteger = constraint("nonnegativeInteger", kDiscrete, (value) =>
  isWhole(value).logicalAnd(value.ge(0)),
);

/** Integers greater than or equal to 1. */
export const positiveInteger = constraint("positiveInteger", kDiscrete, (value) =>
  isWhole(value).logicalAnd(value.ge(1)),
);

/** Numbers from 0 to 1. */
export const unitInterval = constraint("unitInterval", kNumbers, (value) => isWithin(value, 0, 1));

/** Vectors without NaN. */
export const realVector = constraint("realVector", kVectors, (value) => value.eq(value).all(-1));

/** Vectors of nonnegative numbers whose sum is 1. */
export const simplex = constraint("simplex", kVectors, (value) =>
  value.ge(0).all(-1).logicalAnd(value.sum(-1).sub(1).abs().lt(1e-6)),
);

/** Vectors with one element 1 and all others 0. */
export const oneHot = constraint("oneHot", { eventDim: 1, isDiscrete: true }, (value) =>
  isBit(value).all(-1).logicalAnd(value.sum(-1).eq(1)),
);

/** Vectors of nonnegative counts whose sum is at most `upperBound`. */
export function multinomial(upperBound: number): Constraint {
  const holds = (value: Tensor) => value.ge(0).all(-1).logicalAnd(value.sum(-1).le(upperBound));
  return bounded("multinomial", { upperBound }, { eventDim: 1, isDiscrete: true }, holds);
}

/** Lower triangular matrices. */
export const lowerTriangular = constraint("lowerTriangular", kMatrices, isLowerTriangular);

/** Lower triangular matrices with positive diagonals. */
export const lowerCholesky = constraint("lowerCholesky", kMatrices, (value) =>
  isLowerTriangular(value).logicalAnd(value.diagonal(0, -2, -1).gt(0).all(-1)),
);

/** Lower triangular matrices with positive diagonals and rows of Euclidean norm 1. */
export const corrCholesky = constraint("corrCholesky", kMatrices, (value) => {
  const tolerance = finfo(value.dtype).eps * (value.shape.at(-1) ?? 0) * 10;
  const lengths = value.detach().square().sum(-1).sqrt();
  return lowerCholesky.check(value).logicalAnd(lengths.sub(1).abs().le(tolerance).all(-1));
});

const isSquare = (value: Tensor): Tensor => {
  const [rows, columns] = value.shape.slice(-2);
  return full(value.shape.slice(0, -2), rows === columns, { dtype: "bool", device: value.device });
};

const isSymmetric = (value: Tensor): Tensor => {
  const [rows, columns] = value.shape.slice(-2);
  if (rows !== columns) return isSquare(value);
  return value.isclose(value.transpose(-2, -1), { atol: 1e-6 }).all([-2, -1]);
};

const withEigenvalues = (value: Tensor, areFine: (eigenvalues: Tensor) => Tensor): Tensor => {
  const symmetric = isSymmetric(value);
  if (!isAllTrue(symmetric)) return symmetric;
  return areFine(value.detach().eigvalsh()).all(-1);
};

/** Square matrices. */
export const square = constraint("square", kMatrices, isSquare);

/** Symmetric matrices. */
export const symmetric = constraint("symmetric", kMatrices, isSymmetric);

/** Symmetric matrices without negative eigenvalues. */
export const positiveSemidefinite = constraint("positiveSemidefinite", kMatrices, (value) =>
  withEigenvalues(value, (eigenvalues) => eigenvalues.ge(0)),
);

/** Symmetric matrices whose eigenvalues are positive. */
export const positiveDefinite = constraint("positiveDefinite", kMatrices, (value) =>
  withEigenvalues(value, (eigenvalues) => eigenvalues.gt(0)),
);

const constraintList = /* @__PURE__ */ listOf(constraintRule);

/** Concatenated values: along `dim`, the next `lengths[i]` elements satisfy the constraint i; by default one element each. */
export function cat(
  cseq: readonly Constraint[],
  dim = 0,
  lengths: readonly number[] | null = null,
): Constraint {
  const parts = constraintList.check("cat", "cseq", cseq);
  const sizes = partLengths("cat", parts.length, lengths);
  const holds = (value: Tensor) =>
    joined(
      value.splitWithSizes(sizes, dim).map((part, i) => (parts[i] as Constraint).check(part)),
      dim,
    );
  const kind = { ...kindOf(parts), made: [parts, dim, sizes] };
  return new Constraint(`cat(${parts.join(", ")})`, holds, kind);
}

/** Stacked values: the slice i along `dim` satisfies the constraint i. */
export function stack(cseq: readonly Constraint[], dim = 0): Constraint {
  const parts = constraintList.check("stack", "cseq", cseq);
  integer.check("stack", "dim", dim);
  const holds = (value: Tensor) =>
    stacked(
      parts.map((part, i) => part.check(value.select(dim, i))),
      dim,
    );
  const kind = kindOf(parts);
  const eventDim = dim + kind.eventDim < 0 ? kind.eventDim + 1 : kind.eventDim;
  return new Constraint(`stack(${parts.join(", ")})`, holds, {
    ...kind,
    eventDim,
    made: [parts, dim],
  });
}

function kindOf(parts: readonly Constraint[]): { eventDim: number; isDiscrete: boolean } {
  return {
    eventDim: Math.max(0, ...parts.map(({ eventDim }) => eventDim)),
    isDiscrete: parts.some(({ isDiscrete }) => isDiscrete),
  };
}
