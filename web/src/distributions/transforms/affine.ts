// Transforms of single numbers that have parameters.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { type Options, size } from "../../arguments/rule.js";
import { fullLike } from "../../generated/ops.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes, hasShape, type Parameter, parameter } from "../base/arguments.js";
import { holdsEverywhere, sumRightmost } from "../base/numbers.js";
import { type Constraint, independent, positive, real } from "../constraints/constraints.js";
import {
  type CacheSize,
  kTransformOptions,
  Transform,
  type TransformArguments,
} from "./transform.js";

const kPowerArguments = { exponent: parameter, ...kTransformOptions };

/** y = x ** exponent, of positive numbers. */
export class PowerTransform extends Transform {
  readonly exponent: Parameter;

  constructor(...given: [exponent: Parameter, ...rest: TransformArguments]) {
    const { exponent, cacheSize } = readArguments(new.target.name, kPowerArguments, given);
    super({ cacheSize });
    this.exponent = exponent;
  }

  override get domain(): Constraint {
    return positive;
  }

  override get codomain(): Constraint {
    return positive;
  }

  override get sign(): number | Tensor {
    return signOf(this.exponent);
  }

  protected override forward(x: Tensor): Tensor {
    return x.pow(this.exponent);
  }

  protected override invert(y: Tensor): Tensor {
    const { exponent } = this;
    return y.pow(exponent instanceof Tensor ? exponent.reciprocal() : 1 / exponent);
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    return y.mul(this.exponent).div(x).abs().log();
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return broadcastShapes(this.constructor.name, shape, shapeOfParameter(this.exponent));
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.forwardShape(shape);
  }

  override equals(other: Transform): boolean {
    return other instanceof PowerTransform && areEqual(this.exponent, other.exponent);
  }
}

const kAffineOptions = {
  /** How many dimensions, the last ones, one value has; default 0. */
  eventDim: size.or(0),
  ...kTransformOptions,
};
const kAffineArguments = { loc: parameter, scale: parameter, ...kAffineOptions };

/** Options of `AffineTransform`. */
export type AffineTransformOptions = Options<typeof kAffineOptions>;

/** y = loc + scale * x. */
export class AffineTransform extends Transform {
  readonly loc: Parameter;
  readonly scale: Parameter;
  readonly eventDim: number;

  constructor(
    ...given: [
      loc: Parameter,
      scale: Parameter,
      ...rest: Arguments<[eventDim: number, cacheSize: CacheSize], AffineTransformOptions>,
    ]
  ) {
    const call = readArguments(new.target.name, kAffineArguments, given);
    const { loc, scale, eventDim, cacheSize } = call;
    super({ cacheSize });
    this.loc = loc;
    this.scale = scale;
    this.eventDim = eventDim;
  }

  override get domain(): Constraint {
    return this.eventDim > 0 ? independent(real, this.eventDim) : real;
  }

  override get codomain(): Constraint {
    return this.domain;
  }

  override get sign(): number | Tensor {
    return signOf(this.scale);
  }

  protected override forward(x: Tensor): Tensor {
    return x.mul(this.scale).add(this.loc);
  }

  protected override invert(y: Tensor): Tensor {
    return y.sub(this.loc).div(this.scale);
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    const { scale, eventDim } = this;
    const each =
      scale instanceof Tensor ? scale.abs().log() : fullLike(x, Math.log(Math.abs(scale)));
    return sumRightmost(each.expand(x.shape), eventDim);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    const shapes = [this.loc, this.scale].map(shapeOfParameter);
    return broadcastShapes(this.constructor.name, shape, ...shapes);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.forwardShape(shape);
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof AffineTransform &&
      areEqual(this.loc, other.loc) &&
      areEqual(this.scale, other.scale)
    );
  }
}

function signOf(value: Parameter): number | Tensor {
  return value instanceof Tensor ? value.sign() : Math.sign(value);
}

function shapeOfParameter(value: Parameter): readonly number[] {
  return value instanceof Tensor ? value.shape : [];
}

function areEqual(a: Parameter, b: Parameter): boolean {
  if (!(a instanceof Tensor)) return b instanceof Tensor ? areEqual(b, a) : a === b;
  if (b instanceof Tensor && !hasShape(a.shape, b.shape)) return false;
  return holdsEverywhere(() => a.eq(b));
}
