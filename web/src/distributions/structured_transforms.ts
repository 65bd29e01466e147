// Transforms of arrays by way of transforms of their parts.

import { readArguments } from "../arguments/read.js";
import { listOf, size } from "../arguments/rule.js";
import { zeros } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Constraint, independent, real, unitInterval } from "./constraints.js";
import type { Distribution } from "./distribution.js";
import { distribution } from "./independent.js";
import { sumRightmost } from "./numbers.js";
import { Transform, transform } from "./transform.js";

const kIndependentArguments = { baseTransform: transform, reinterpretedBatchNdims: size };

/** A transform whose values have more dimensions, the last ones; its factor of space is the product over them. */
export class IndependentTransform extends Transform {
  /** The transform of the parts. */
  readonly baseTransform: Transform;
  /** How many dimensions are part of one value beyond its own. */
  readonly reinterpretedBatchNdims: number;

  constructor(...given: [baseTransform: Transform, reinterpretedBatchNdims: number]) {
    super();
    const call = readArguments(new.target.name, kIndependentArguments, given);
    this.baseTransform = call.baseTransform;
    this.reinterpretedBatchNdims = call.reinterpretedBatchNdims;
  }

  override get domain(): Constraint {
    return independent(this.baseTransform.domain, this.reinterpretedBatchNdims);
  }

  override get codomain(): Constraint {
    return independent(this.baseTransform.codomain, this.reinterpretedBatchNdims);
  }

  override get bijective(): boolean {
    return this.baseTransform.bijective;
  }

  override get sign(): number | Tensor {
    return this.baseTransform.sign;
  }

  override call(x: Tensor): Tensor {
    return this.baseTransform.call(x);
  }

  override inverse(y: Tensor): Tensor {
    return this.baseTransform.inverse(y);
  }

  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return sumRightmost(this.baseTransform.logAbsDetJacobian(x, y), this.reinterpretedBatchNdims);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.baseTransform.forwardShape(shape);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.baseTransform.inverseShape(shape);
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof IndependentTransform &&
      other.reinterpretedBatchNdims === this.reinterpretedBatchNdims &&
      this.baseTransform.equals(other.baseTransform)
    );
  }

  override toString(): string {
    return `${this.constructor.name}(${this.baseTransform}, ${this.reinterpretedBatchNdims})`;
  }
}

const kReshapeArguments = { inShape: listOf(size), outShape: listOf(size) };

/** Gives values of the shape `inShape` the shape `outShape`. */
export class ReshapeTransform extends Transform {
  readonly inShape: readonly number[];
  readonly outShape: readonly number[];

  constructor(...given: [inShape: readonly number[], outShape: readonly number[]]) {
    super();
    const { inShape, outShape } = readArguments(new.target.name, kReshapeArguments, given);
    const [before, after] = [inShape, outShape].map((shape) => shape.reduce((a, b) => a * b, 1));
    if (before !== after) {
      const told = `inShape, outShape have different numbers of elements: [${inShape}] and [${outShape}].`;
      fail("ShapeMismatch", new.target.name, told);
    }
    this.inShape = inShape;
    this.outShape = outShape;
  }

  override get domain(): Constraint {
    return independent(real, this.inShape.length);
  }

  override get codomain(): Constraint {
    return independent(real, this.outShape.length);
  }

  override call(x: Tensor): Tensor {
    return x.reshape(this.forwardShape(x.shape));
  }

  override inverse(y: Tensor): Tensor {
    return y.reshape(this.inverseShape(y.shape));
  }

  override logAbsDetJacobian(x: Tensor, _y: Tensor): Tensor {
    const { dtype, device } = x;
    return zeros(this.batchOf(x.shape, this.inShape), { dtype, device });
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return [...this.batchOf(shape, this.inShape), ...this.outShape];
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return [...this.batchOf(shape, this.outShape), ...this.inShape];
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof ReshapeTransform &&
      String(other.inShape) === String(this.inShape) &&
      String(other.outShape) === String(this.outShape)
    );
  }

  private batchOf(shape: readonly number[], ending: readonly number[]): readonly number[] {
    const start = shape.length - ending.length;
    if (start >= 0 && ending.every((size, d) => size === shape[start + d])) {
      return shape.slice(0, start);
    }
    const told = `Shape mismatch: expected [${shape}] to end in [${ending}].`;
    return fail("ShapeMismatch", this.constructor.name, told);
  }
}

const kCumulativeArguments = { distribution };

/** The values of a distribution as their probabilities not to be exceeded, from 0 to 1. */
export class CumulativeDistributionTransform extends Transform {
  readonly distribution: Distribution;

  constructor(...given: [distribution: Distribution]) {
    super();
    this.distribution = readArguments(new.target.name, kCumulativeArguments, given).distribution;
  }

  override get domain(): Constraint {
    return this.distribution.support;
  }

  override get codomain(): Constraint {
    return unitInterval;
  }

  override get sign(): number {
    return 1;
  }

  override call(x: Tensor): Tensor {
    return this.distribution.cdf(x);
  }

  override inverse(y: Tensor): Tensor {
    return this.distribution.icdf(y);
  }

  override logAbsDetJacobian(x: Tensor, _y: Tensor): Tensor {
    return this.distribution.logProb(x);
  }
}
