// What values may be: the domains of parameters and the supports of distributions.

import { Rule, size } from "../arguments/rule.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { type Parameter, parameter } from "./arguments.js";

/** How the values of a constraint are made up. */
export interface ConstraintKind {
  /** How many dimensions, the last ones, one value has; default 0. */
  eventDim?: number;
  /** Whether there are gaps between values; default false. */
  isDiscrete?: boolean;
}

/** A set of values, such as the support of a distribution. */
export class Constraint {
  /** Whether there are gaps between values. */
  readonly isDiscrete: boolean;
  /** How many dimensions, the last ones, one value has. */
  readonly eventDim: number;
  readonly #text: string;
  readonly #holds: (value: Tensor) => Tensor;

  /** @internal */
  constructor(text: string, holds: (value: Tensor) => Tensor, kind: ConstraintKind = {}) {
    this.#text = text;
    this.#holds = holds;
    this.eventDim = kind.eventDim ?? 0;
    this.isDiscrete = kind.isDiscrete ?? false;
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
  return new Constraint(`greaterThan(${spelled(lowerBound)})`, (value) => value.gt(lowerBound));
}

/** Numbers from a bound upwards. */
export function greaterThanEq(lowerBound: Parameter): Constraint {
  checkBounds("greaterThanEq", { lowerBound });
  return new Constraint(`greaterThanEq(${spelled(lowerBound)})`, (value) => value.ge(lowerBound));
}

/** Numbers below a bound. */
export function lessThan(upperBound: Parameter): Constraint {
  checkBounds("lessThan", { upperBound });
  return new Constraint(`lessThan(${spelled(upperBound)})`, (value) => value.lt(upperBound));
}

/** Numbers from one bound to another, both included. */
export function interval(lowerBound: Parameter, upperBound: Parameter): Constraint {
  checkBounds("interval", { lowerBound, upperBound });
  const text = `interval(${spelled(lowerBound)}, ${spelled(upperBound)})`;
  return new Constraint(text, (value) => value.ge(lowerBound).logicalAnd(value.le(upperBound)));
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
  const kind = { eventDim, isDiscrete: base.isDiscrete };
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

/** Lower triangular matrices with positive diagonals whose rows have the length 1. */
export const corrCholesky: Constraint = /* @__PURE__ */ new Constraint(
  "corrCholesky",
  (value) => {
    const eps = value.dtype === "float64" ? 2 ** -52 : 2 ** -23;
    const excess = value.norm(2, -1).sub(1).abs();
    const areUnits = excess.le(eps * (value.shape.at(-1) ?? 0) * 10).all(-1);
    return lowerCholesky.check(value).logicalAnd(areUnits);
  },
  { eventDim: 2 },
);

/** Symmetric matrices whose eigenvalues are positive. */
export const positiveDefinite: Constraint = /* @__PURE__ */ new Constraint(
  "positiveDefinite",
  (value) => {
    const isSymmetric = value.isclose(value.transpose(-2, -1), { atol: 1e-6 }).all([-2, -1]);
    return isSymmetric.logicalAnd(value.detach().eigvalsh().gt(0).all(-1));
  },
  { eventDim: 2 },
);
