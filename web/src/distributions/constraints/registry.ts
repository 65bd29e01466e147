// Transforms from unconstrained values to those of a constraint, found by the constraint.

import { functionOf } from "../../arguments/rule.js";
import { sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Parameter } from "../base/arguments.js";
import { ComposeTransform } from "../transforms/compose.js";
import { CatTransform, StackTransform } from "../transforms/joined.js";
import { AffineTransform } from "../transforms/parametric.js";
import {
  CorrCholeskyTransform,
  ExpTransform,
  LowerCholeskyTransform,
  PositiveDefiniteTransform,
  SigmoidTransform,
  SoftmaxTransform,
  StickBreakingTransform,
} from "../transforms/plain.js";
import { IndependentTransform } from "../transforms/shapes.js";
import type { Transform } from "../transforms/transform.js";
import { type Constraint, constraintRule } from "./constraint.js";

/** Creates a transform to the values of a constraint. */
export type TransformFactory = (constraint: Constraint) => Transform;

/** Finds transforms by constraints. */
export interface ConstraintRegistry {
  /** Returns a transform from unconstrained values to those of a constraint; throws InvalidArgument if none is registered. */
  (constraint: Constraint): Transform;
  /** Registers the factory for a constraint and for all constraints that differ from it in bounds only. */
  register(constraint: Constraint, factory: TransformFactory): void;
}

const factoryRule = /* @__PURE__ */ functionOf<TransformFactory>();

type Factories = Readonly<Record<string, TransformFactory>>;

/** Finds a bijective transform from unconstrained values to those of a constraint, as normalizing flows need it. */
export const bijectTo: ConstraintRegistry = /* @__PURE__ */ registry("bijectTo", () => ({
  simplex: () => new StickBreakingTransform(),
}));

/** Finds a cheap transform from unconstrained values to those of a constraint, not always bijective, for optimization. */
export const transformTo: ConstraintRegistry = /* @__PURE__ */ registry("transformTo", () => ({
  simplex: () => new SoftmaxTransform(),
  lowerCholesky: () => new LowerCholeskyTransform(),
  positiveDefinite: () => new PositiveDefiniteTransform(),
  positiveSemidefinite: () => new PositiveDefiniteTransform(),
}));

function registry(where: string, own: () => Factories): ConstraintRegistry {
  const registered = new Map<string, TransformFactory>();
  let known: Factories | null = null;
  const find = (constraint: Constraint): Transform => {
    const { family } = constraintRule.check(where, "constraint", constraint);
    known ??= { ...commonFactories(find), ...own() };
    const factory = registered.get(family) ?? (Object.hasOwn(known, family) && known[family]);
    if (factory) return factory(constraint);
    return fail(
      "InvalidArgument",
      where,
      `no transform to the constraint ${constraint} is registered.`,
    );
  };
  const register = (constraint: Constraint, factory: TransformFactory): void => {
    const { family } = constraintRule.check(`${where}.register`, "constraint", constraint);
    registered.set(family, factoryRule.check(`${where}.register`, "factory", factory));
  };
  return Object.assign(find, { register });
}

function commonFactories(find: (constraint: Constraint) => Transform): Factories {
  const identity = () => new ComposeTransform([]);
  const positive = () => new ExpTransform();
  const beyondLimit =
    (scale: 1 | -1) =>
    ({ made }: Constraint) =>
      new ComposeTransform([positive(), new AffineTransform(made[0] as Parameter, scale)]);
  return {
    real: identity,
    realVector: () => new IndependentTransform(identity(), 1),
    independent: ({ made: [base, count] }) =>
      new IndependentTransform(find(base as Constraint), count as number),
    positive,
    nonnegative: positive,
    greaterThan: beyondLimit(1),
    greaterThanEq: beyondLimit(1),
    lessThan: beyondLimit(-1),
    interval: between,
    halfOpenInterval: between,
    unitInterval: () => new SigmoidTransform(),
    corrCholesky: () => new CorrCholeskyTransform(),
    cat: ({ made: [parts, dim, lengths] }) =>
      new CatTransform(
        (parts as Constraint[]).map(find),
        dim as number,
        lengths as readonly number[],
      ),
    stack: ({ made: [parts, dim] }) =>
      new StackTransform((parts as Constraint[]).map(find), dim as number),
  };
}

function between({ made }: Constraint): Transform {
  const [low, high] = made as [Parameter, Parameter];
  if (low === 0 && high === 1) return new SigmoidTransform();
  const isTensor = low instanceof Tensor || high instanceof Tensor;
  const width = isTensor ? sub(high, low) : high - low;
  return new ComposeTransform([new SigmoidTransform(), new AffineTransform(low, width)]);
}
