// Transforms of the shape of values, and of which dimensions a value has.

import { readArguments } from "../../arguments/read.js";
import { listOf, size } from "../../arguments/rule.js";
import { zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { hasShape } from "../base/arguments.js";
import { sumRightmost } from "../base/numbers.js";
import { type Constraint, independent, real } from "../constraints/constraints.js";
import { withCaches } from "./compose.js";
import {
  type CacheSize,
  kTransformOptions,
  Transform,
  type TransformArguments,
  transform,
} from "./transform.js";

const kReshapeArguments = {
  inShape: listOf(size),
  outShape: listOf(size),
  ...kTransformOptions,
};

/** Gives values another shape, with the same elements in the same order. */
export class ReshapeTransform extends Transform {
  readonly inShape: readonly number[];
  readonly outShape: readonly number[];

  constructor(
    ...given: [inShape: readonly number[], outShape: readonly number[], ...rest: TransformArguments]
  ) {
    const call = readArguments(new.target.name, kReshapeArguments, given);
    const { inShape, outShape, cacheSize } = call;
    super({ cacheSize });
    const count = (shape: readonly number[]) => shape.reduce((product, one) => product * one, 1);
    if (count(inShape) !== count(outShape)) {
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

  protected override forward(x: Tensor): Tensor {
    return x.reshape(this.forwardShape(x.shape));
  }

  protected override invert(y: Tensor): Tensor {
    return y.reshape(this.inverseShape(y.shape));
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    const { dtype, device, shape } = x;
    return zeros(shape.slice(0, shape.length - this.inShape.length), { dtype, device });
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.replaced(shape, this.inShape, this.outShape);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.replaced(shape, this.outShape, this.inShape);
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof ReshapeTransform &&
      hasShape(this.inShape, other.inShape) &&
      hasShape(this.outShape, other.outShape)
    );
  }

  private replaced(
    shape: readonly number[],
    from: readonly number[],
    to: readonly number[],
  ): readonly number[] {
    const cut = shape.length - from.length;
    if (cut >= 0 && hasShape(shape.slice(cut), from)) return [...shape.slice(0, cut), ...to];
    const told = `Shape mismatch: expected [..., ${from}] but got [${shape}].`;
    return fail("ShapeMismatch", this.constructor.name, told);
  }
}

const kIndependentArguments = {
  baseTransform: transform,
  reinterpretedBatchNdims: size,
  ...kTransformOptions,
};

/** Another transform, of which the last dimensions count as parts of one value. */
export class IndependentTransform extends Transform {
  readonly baseTransform: Transform;
  readonly reinterpretedBatchNdims: number;

  constructor(
    ...given: [
      baseTransform: Transform,
      reinterpretedBatchNdims: number,
      ...rest: TransformArguments,
    ]
  ) {
    const own = readArguments(new.target.name, kIndependentArguments, given);
    super({ cacheSize: own.cacheSize });
    [this.baseTransform] = withCaches([own.baseTransform], own.cacheSize) as [Transform];
    this.reinterpretedBatchNdims = own.reinterpretedBatchNdims;
  }

  protected override cached(cacheSize: CacheSize): Transform {
    const { baseTransform, reinterpretedBatchNdims } = this;
    return new IndependentTransform(baseTransform, reinterpretedBatchNdims, { cacheSize });
  }

  override get tensors(): readonly Tensor[] {
    return this.baseTransform.tensors;
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

  protected override forward(x: Tensor): Tensor {
    this.checkDims(x, this.domain);
    return this.baseTransform.call(x);
  }

  protected override invert(y: Tensor): Tensor {
    this.checkDims(y, this.codomain);
    return this.baseTransform.inverse(y);
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
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
      this.reinterpretedBatchNdims === other.reinterpretedBatchNdims &&
      this.baseTransform.equals(other.baseTransform)
    );
  }

  override toString(): string {
    return `${this.constructor.name}(${this.baseTransform}, ${this.reinterpretedBatchNdims})`;
  }

  private checkDims(value: Tensor, { eventDim }: Constraint): void {
    if (value.ndim >= eventDim) return;
    const told = `Too few dimensions on input: expected at least ${eventDim}, got ${value.ndim}.`;
    fail("ShapeMismatch", this.constructor.name, told);
  }
}
