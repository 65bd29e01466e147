// What values may be: the domains of parameters and the supports of distributions.

import { integer, listOf, Rule, size } from "../../arguments/rule.js";
import { full, cat as joined, stack as stacked } from "../../generated/ops.js";
import { finfo } from "../../ops/number_types.js";
import { isAllTrue } from "../../ops/samples.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Parameter, parameter, partLengths } from "../base/arguments.js";

/** How the values of a constraint are made up. */
export interface ConstraintKind {
  /** How many dimensions, the last ones, one value has; default 0. */
  eventDim?: number;
  /** Whether there are gaps between values; default false. */
  isDiscrete?: boolean;
  /** What it is made of: bounds, or other constraints. @internal */
  made?: readonly unknown[];
}

/** A set of values, such as the support of a distribution. */
export class Constraint {
  /** Whether there are gaps between values. */
  readonly isDiscrete: boolean;
  /** How many dimensions, the last ones, one value has. */
  readonly eventDim: number;
  /** What it is made of: bounds, or other constraints. @internal */
  readonly made: readonly unknown[];
  readonly #text: string;
  readonly #holds: (value: Tensor) => Tensor;

  /** @internal */
  constructor(text: string, holds: (value: Tensor) => Tensor, kind: ConstraintKind = {}) {
    this.#text = text;
    this.#holds = holds;
    this.eventDim = kind.eventDim ?? 0;
    this.isDiscrete = kind.isDiscrete ?? false;
    this.made = kind.made ?? [];
  }

  /** Returns which values are in the set: booleans in the shape of `value` without the dimensions of one value. */
  check(value: Tensor): Tensor {
    const checked = tensorRule.check("Constraint.check", "value", value);
    return scope(() => this.#holds(checked));
  }

  /** Its name, with its bounds. */
  toString(): string {
    return this.#text;
  }

  /** The name of it, or of the function that made it. @internal */
  get family(): string {
    return this.#text.replace(/\(.*/s, "");
  }
}

const constraintRule = /* @__PURE__ */ new Rule<Constraint>(
  "a constraint",
  (value) => value instanceof Constraint,
);

const isWhole = (value: Tensor): Tensor => value.remainder(1).eq(0);
const isBit = (value: Tensor): Tensor => value.eq(0).logicalOr(value.eq(1));
const isLowerTriangular = (value: Tensor): Tensor => value.tril().eq(value).all([-2, -1]);
const spelled = (bound: Parameter): string =>
  bound instanceof Tensor ? `a tensor of shape [${bound.shape}]` : String(bound);

function checkBounds(where: string, bounds: Record<string, Parameter>): void {
  for (const [name, bound] of Object.entries(bounds)) parameter.check(where, name, bound);
}

/** Any number but NaN. */
export const real: Constraint = /* @__PURE__ */ new Constraint("real", (value) => value.eq(value));

/** 0 or 1. */
export const boolean: Constraint = /* @__PURE__ */ new Constraint("boolean", isBit, {
  isDiscrete: true,
});

/** Depends on other parameters, and is not checked by itself. */
export const dependent: Constraint = /* @__PURE__ */ new Constraint("dependent", (value) =>
  value.eq(value).logicalOr(true),
);

/** Numbers above a bound. */
export function greaterThan(lowerBound: Parameter): Constraint {
  checkBounds("greaterThan", { lowerBound });
  return new Constraint(`greaterThan(${spelled(lowerBound)})`, (value) => value.gt(lowerBound), {
    made: [lowerBound],
  });
}

/** Numbers from a bound upwards. */
export function greaterThanEq(lowerBound: Parameter): Constraint {
  checkBounds("greaterThanEq", { lowerBound });
  return new Constraint(`greaterThanEq(${spelled(lowerBound)})`, (value) => value.ge(lowerBound), {
    made: [lowerBound],
  });
}

/** Numbers below a bound. */
export function lessThan(upperBound: Parameter): Constraint {
  checkBounds("lessThan", { upperBound });
  return new Constraint(`lessThan(${spelled(upperBound)})`, (value) => value.lt(upperBound), {
    made: [upperBound],
  });
}

/** Numbers from one bound to another, both included. */
export function interval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  checkBounds("interval", { lowerBound, upperBound });
  const text = `interval(${spelled(lowerBound)}, ${spelled(upperBound)})`;
  return new Constraint(text, (value) => value.ge(lowerBound).logicalAnd(value.le(upperBound)), {
    made: [lowerBound, upperBound],
  });
}

/** Numbers from one bound on to below another. */
export function halfOpenInterval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  checkBounds("halfOpenInterval", { lowerBound, upperBound });
  const text = `halfOpenInterval(${spelled(lowerBound)}, ${spelled(upperBound)})`;
  return new Constraint(text, (value) => value.ge(lowerBound).logicalAnd(value.lt(upperBound)), {
    made: [lowerBound, upperBound],
  });
}

/** Whole numbers from one bound to another, both included. */
export function integerInterval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  checkBounds("integerInterval", { lowerBound, upperBound });
  const text = `integerInterval(${spelled(lowerBound)}, ${spelled(upperBound)})`;
  const holds = (value: Tensor) =>
    isWhole(value).logicalAnd(value.ge(lowerBound)).logicalAnd(value.le(upperBound));
  return new Constraint(text, holds, { isDiscrete: true });
}

/** Arrays with `reinterpretedBatchNdims` more dimensions, all of whose values are in `base`. */
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

/** Numbers above 0. */
export const positive: Constraint = /* @__PURE__ */ new Constraint("positive", (value) =>
  value.gt(0),
);

/** Numbers from 0 upwards. */
export const nonnegative: Constraint = /* @__PURE__ */ new Constraint("nonnegative", (value) =>
  value.ge(0),
);

/** Whole numbers from 0 upwards. */
export const nonnegativeInteger: Constraint = /* @__PURE__ */ new Constraint(
  "nonnegativeInteger",
  (value) => isWhole(value).logicalAnd(value.ge(0)),
  { isDiscrete: true },
);

/** Whole numbers from 1 upwards. */
export const positiveInteger: Constraint = /* @__PURE__ */ new Constraint(
  "positiveInteger",
  (value) => isWhole(value).logicalAnd(value.ge(1)),
  { isDiscrete: true },
);

/** Numbers from 0 to 1. */
export const unitInterval: Constraint = /* @__PURE__ */ new Constraint("unitInterval", (value) =>
  value.ge(0).logicalAnd(value.le(1)),
);

/** Vectors without NaN. */
export const realVector: Constraint = /* @__PURE__ */ new Constraint(
  "realVector",
  (value) => value.eq(value).all(-1),
  { eventDim: 1 },
);

/** Vectors of nonnegative numbers whose sum is 1. */
export const simplex: Constraint = /* @__PURE__ */ new Constraint(
  "simplex",
  (value) => value.ge(0).all(-1).logicalAnd(value.sum(-1).sub(1).abs().lt(1e-6)),
  { eventDim: 1 },
);

/** Vectors that are 1 in one place and 0 elsewhere. */
export const oneHot: Constraint = /* @__PURE__ */ new Constraint(
  "oneHot",
  (value) => isBit(value).all(-1).logicalAnd(value.sum(-1).eq(1)),
  { eventDim: 1, isDiscrete: true },
);

/** Vectors of nonnegative counts whose sum is at most `upperBound`. */
export function multinomial(upperBound: number): Constraint {
  checkBounds("multinomial", { upperBound });
  const holds = (value: Tensor) => value.ge(0).all(-1).logicalAnd(value.sum(-1).le(upperBound));
  return new Constraint(`multinomial(${upperBound})`, holds, { eventDim: 1, isDiscrete: true });
}

/** Lower triangular matrices. */
export const lowerTriangular: Constraint = /* @__PURE__ */ new Constraint(
  "lowerTriangular",
  isLowerTriangular,
  { eventDim: 2 },
);

/** Lower triangular matrices with positive diagonals. */
export const lowerCholesky: Constraint = /* @__PURE__ */ new Constraint(
  "lowerCholesky",
  (value) => isLowerTriangular(value).logicalAnd(value.diagonal(0, -2, -1).gt(0).all(-1)),
  { eventDim: 2 },
);

/** Lower triangular matrices with positive diagonals, whose rows have the length 1. */
export const corrCholesky: Constraint = /* @__PURE__ */ new Constraint(
  "corrCholesky",
  (value) => {
    const tolerance = finfo(value.dtype).eps * (value.shape.at(-1) ?? 0) * 10;
    const lengths = value.detach().square().sum(-1).sqrt();
    return lowerCholesky.check(value).logicalAnd(lengths.sub(1).abs().le(tolerance).all(-1));
  },
  { eventDim: 2 },
);

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
export const square: Constraint = /* @__PURE__ */ new Constraint("square", isSquare, {
  eventDim: 2,
});

/** Symmetric matrices. */
export const symmetric: Constraint = /* @__PURE__ */ new Constraint("symmetric", isSymmetric, {
  eventDim: 2,
});

/** Symmetric matrices without negative eigenvalues. */
export const positiveSemidefinite: Constraint = /* @__PURE__ */ new Constraint(
  "positiveSemidefinite",
  (value) => withEigenvalues(value, (eigenvalues) => eigenvalues.ge(0)),
  { eventDim: 2 },
);

/** Symmetric matrices whose eigenvalues are positive. */
export const positiveDefinite: Constraint = /* @__PURE__ */ new Constraint(
  "positiveDefinite",
  (value) => withEigenvalues(value, (eigenvalues) => eigenvalues.gt(0)),
  { eventDim: 2 },
);

const constraintList = /* @__PURE__ */ listOf(constraintRule);

/** What lies side by side along `dim`, `lengths` of each, keeps one constraint each; by default one of each. */
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

/** What lies along `dim` keeps one constraint each. */
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
