// From any numbers to those of a constraint: transforms by the constraint that they lead to.

import { functionOf } from "../../arguments/rule.js";
import { sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
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

/** Makes a transform to the values of a constraint. */
export type TransformFactory = (constraint: Constraint) => Transform;

/** Finds transforms by constraints. */
export interface ConstraintRegistry {
  /** Returns a transform of any numbers to values of a constraint; throws InvalidArgument where none is known. */
  (constraint: Constraint): Transform;
  /** Has `factory` make the transforms to a constraint from now on, with whatever bounds it is made. */
  register(constraint: Constraint, factory: TransformFactory): void;
}

const factoryRule = /* @__PURE__ */ functionOf<TransformFactory>();

type Factories = Readonly<Record<string, TransformFactory>>;

/** Transforms that have an inverse, of any numbers to those of a constraint, as flows want them. */
export const bijectTo: ConstraintRegistry = /* @__PURE__ */ registry("bijectTo", () => ({
  simplex: () => new StickBreakingTransform(),
}));

/** Transforms of any numbers to those of a constraint, cheap and not always with an inverse, as optimisation wants them. */
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
    return fail("InvalidArgument", where, `Cannot transform to the constraint ${constraint}.`);
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
  const moved =
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
    greaterThan: moved(1),
    greaterThanEq: moved(1),
    lessThan: moved(-1),
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
