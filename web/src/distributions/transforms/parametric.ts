// Transforms of single numbers that have parameters.

import type { Forms } from "../../arguments/read.js";
import { type Options, size } from "../../arguments/rule.js";
import { fullLike } from "../../generated/ops.js";
import { hasShape } from "../../tensor/shape.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes, type Parameter, parameter } from "../base/arguments.js";
import type { Distribution } from "../base/distribution.js";
import { holdsEverywhere, sumRightmost } from "../base/numbers.js";
import { distribution } from "../combined/independent.js";
import type { Constraint } from "../constraints/constraint.js";
import { independent, positive, real, unitInterval } from "../constraints/constraints.js";
import {
  type CacheSize,
  type TransformArguments,
  type TransformOptions,
  transformation,
} from "./transform.js";

/** y = x ** exponent, of positive numbers. */
export class PowerTransform extends transformation({
  given: {} as [exponent: Parameter, ...rest: TransformArguments],
  arguments: { exponent: parameter },
  domain: positive,
  codomain: positive,
  sign: ({ exponent }) => signOf(exponent),
  forward: (x, { exponent }) => x.pow(exponent),
  inverse: (y, { exponent }) =>
    y.pow(exponent instanceof Tensor ? exponent.reciprocal() : 1 / exponent),
  logStretch: (x, y, { exponent }) => y.mul(exponent).div(x).abs().log(),
  forwardShape: (shape, self) => shapeWith(shape, self.constructor.name, self.exponent),
  inverseShape: (shape, self) => shapeWith(shape, self.constructor.name, self.exponent),
  equals: (other, self) => areEqual(self.exponent, other.exponent),
}) {}

const kAffineOptions = {
  /** How many trailing dimensions form one value; default 0. */
  eventDim: size.or(0),
};

/** Options of `AffineTransform`. */
export interface AffineTransformOptions extends TransformOptions, Options<typeof kAffineOptions> {}

type AffineArguments = [
  loc: Parameter,
  scale: Parameter,
  ...rest: Forms<[eventDim: number, cacheSize: CacheSize], AffineTransformOptions>,
];

/** y = loc + scale * x. */
export class AffineTransform extends transformation({
  given: {} as AffineArguments,
  arguments: { loc: parameter, scale: parameter, ...kAffineOptions },
  domain: ({ eventDim }) => realOf(eventDim),
  codomain: ({ eventDim }) => realOf(eventDim),
  sign: ({ scale }) => signOf(scale),
  forward: (x, { loc, scale }) => x.mul(scale).add(loc),
  inverse: (y, { loc, scale }) => y.sub(loc).div(scale),
  logStretch(x, _y, { scale, eventDim }) {
    const each =
      scale instanceof Tensor ? scale.abs().log() : fullLike(x, Math.log(Math.abs(scale)));
    return sumRightmost(each.expand(x.shape), eventDim);
  },
  forwardShape: (shape, self) => shapeWith(shape, self.constructor.name, self.loc, self.scale),
  inverseShape: (shape, self) => shapeWith(shape, self.constructor.name, self.loc, self.scale),
  equals: (other, self) => areEqual(self.loc, other.loc) && areEqual(self.scale, other.scale),
}) {}

function realOf(eventDim: number): Constraint {
  return eventDim > 0 ? independent(real, eventDim) : real;
}

function signOf(value: Parameter): number | Tensor {
  return value instanceof Tensor ? value.sign() : Math.sign(value);
}

function shapeWith(
  shape: readonly number[],
  where: string,
  ...parameters: Parameter[]
): readonly number[] {
  const shapes = parameters.map((value) => (value instanceof Tensor ? value.shape : []));
  return broadcastShapes(where, shape, ...shapes);
}

function areEqual(a: Parameter, b: Parameter): boolean {
  if (!(a instanceof Tensor)) return b instanceof Tensor ? areEqual(b, a) : a === b;
  if (b instanceof Tensor && !hasShape(a.shape, b.shape)) return false;
  return holdsEverywhere(() => a.eq(b));
}

/** The cumulative distribution function of a distribution, as a transform. */
export class CumulativeDistributionTransform extends transformation({
  given: {} as [distribution: Distribution, ...rest: TransformArguments],
  arguments: { distribution },
  domain: ({ distribution }) => distribution.support,
  codomain: unitInterval,
  tensors: ({ distribution }) => distribution.tensors,
  forward: (x, { distribution }) => distribution.cdf(x),
  inverse: (y, { distribution }) => distribution.icdf(y),
  logStretch: (x, _y, { distribution }) => distribution.logProb(x),
  equals: (other, self) => other === self,
}) {
  /** 1, because the transform is increasing. */
  override get sign(): number {
    return 1;
  }
}
