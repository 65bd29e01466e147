// Transforms that are each applied to a part of a tensor.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { integer, listOf, type Options, size } from "../../arguments/rule.js";
import { add, cat, stack } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { partLengths } from "../base/arguments.js";
import { sumRightmost } from "../base/numbers.js";
import type { Constraint } from "../constraints/constraint.js";
import { cat as catOf, stack as stackOf } from "../constraints/constraints.js";
import { areEqual, withCaches } from "./compose.js";
import {
  type CacheSize,
  kTransformOptions,
  Transform,
  type TransformOptions,
  transform,
} from "./transform.js";

const kDimOption = {
  /** The dimension along which the parts are joined; default 0. */
  dim: integer.or(0),
};
const kLengthsOption = {
  /** How many elements along `dim` each transform gets; default 1. */
  lengths: listOf(size).orNull(),
};
const kStackArguments = { tseq: listOf(transform), ...kDimOption, ...kTransformOptions };
const kCatArguments = {
  tseq: listOf(transform),
  ...kDimOption,
  ...kLengthsOption,
  ...kTransformOptions,
};

/** Options of `StackTransform`. */
export interface StackTransformOptions extends TransformOptions, Options<typeof kDimOption> {}

/** Options of `CatTransform`. */
export interface CatTransformOptions
  extends StackTransformOptions,
    Options<typeof kLengthsOption> {}

type Parts = readonly (readonly [transform: Transform, x: Tensor, y: Tensor])[];

abstract class JoinedTransform extends Transform {
  /** The transforms, in the order in which they are applied. */
  readonly transforms: readonly Transform[];
  /** The dimension along which the parts are joined. */
  readonly dim: number;

  constructor(transforms: readonly Transform[], dim: number, cacheSize: CacheSize) {
    super({ cacheSize });
    this.transforms = withCaches(transforms, cacheSize);
    this.dim = dim;
  }

  protected override cached(cacheSize: CacheSize): Transform {
    const copy = super.cached(cacheSize);
    return Object.assign(copy, { transforms: withCaches(this.transforms, cacheSize) });
  }

  override get tensors(): readonly Tensor[] {
    return this.transforms.flatMap((part) => part.tensors);
  }

  override get domain(): Constraint {
    return this.joinConstraints(this.transforms.map((part) => part.domain));
  }

  override get codomain(): Constraint {
    return this.joinConstraints(this.transforms.map((part) => part.codomain));
  }

  override get bijective(): boolean {
    return this.transforms.every((part) => part.bijective);
  }

  protected override forward(x: Tensor): Tensor {
    return this.join(this.parts(x, x).map(([part, own]) => part.call(own)));
  }

  protected override invert(y: Tensor): Tensor {
    return this.join(this.parts(y, y).map(([part, own]) => part.inverse(own)));
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    return this.joinLogDets(
      this.parts(x, y).map(([part, ownX, ownY]) => {
        const logDet = part.logAbsDetJacobian(ownX, ownY);
        return sumRightmost(logDet, Math.max(this.eventDim - eventDimOf(part), 0));
      }),
      x.ndim,
    );
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof JoinedTransform &&
      other.constructor === this.constructor &&
      other.dim === this.dim &&
      areEqual(this.transforms, other.transforms)
    );
  }

  override toString(): string {
    return `${this.constructor.name}(${this.transforms.join(", ")})`;
  }

  protected abstract joinConstraints(parts: readonly Constraint[]): Constraint;
  protected abstract get eventDim(): number;
  protected abstract split(value: Tensor): Tensor[];
  protected abstract join(values: readonly Tensor[]): Tensor;
  protected abstract joinLogDets(logDets: readonly Tensor[], ndim: number): Tensor;
  /** The size of a tensor along `dim`. */
  protected abstract get length(): number;

  private parts(x: Tensor, y: Tensor): Parts {
    this.checkLength(x);
    this.checkLength(y);
    const [xs, ys] = [this.split(x), this.split(y)];
    return this.transforms.map((part, i) => [part, xs[i] as Tensor, ys[i] as Tensor]);
  }

  private checkLength(value: Tensor): void {
    if (value.shape.at(this.dim) === this.length) return;
    const told = `expected ${this.length} elements along dim ${this.dim}, got shape [${value.shape}].`;
    fail("ShapeMismatch", this.constructor.name, told);
  }
}

function eventDimOf(part: Transform): number {
  return Math.max(part.domain.eventDim, part.codomain.eventDim);
}

/** Applies each transform to the next `lengths[i]` elements along a dimension and concatenates the results. */
export class CatTransform extends JoinedTransform {
  /** How many elements along `dim` each transform gets. */
  readonly lengths: readonly number[];

  constructor(
    ...given: [
      tseq: readonly Transform[],
      ...rest: Arguments<
        [dim: number, lengths: readonly number[] | null, cacheSize: CacheSize],
        CatTransformOptions
      >,
    ]
  ) {
    const name = new.target.name;
    const { tseq, dim, lengths, cacheSize } = readArguments(name, kCatArguments, given);
    super(tseq, dim, cacheSize);
    this.lengths = partLengths(name, tseq.length, lengths);
  }

  protected override joinConstraints(parts: readonly Constraint[]): Constraint {
    return catOf(parts, this.dim, this.lengths);
  }

  protected override get eventDim(): number {
    return Math.max(0, ...this.transforms.map(eventDimOf));
  }

  protected override get length(): number {
    return this.lengths.reduce((sum, one) => sum + one, 0);
  }

  protected override split(value: Tensor): Tensor[] {
    return value.splitWithSizes(this.lengths, this.dim);
  }

  protected override join(values: readonly Tensor[]): Tensor {
    return cat([...values], this.dim);
  }

  // If the parts are joined along a dimension of one value, their log determinants are summed.
  protected override joinLogDets(logDets: readonly Tensor[], ndim: number): Tensor {
    const dim = (this.dim >= 0 ? this.dim - ndim : this.dim) + this.eventDim;
    return dim < 0 ? cat([...logDets], dim) : logDets.reduce((sum, one) => add(sum, one));
  }
}

/** Applies each transform to one slice along a dimension and stacks the results. */
export class StackTransform extends JoinedTransform {
  constructor(
    ...given: [
      tseq: readonly Transform[],
      ...rest: Arguments<[dim: number, cacheSize: CacheSize], StackTransformOptions>,
    ]
  ) {
    const { tseq, dim, cacheSize } = readArguments(new.target.name, kStackArguments, given);
    super(tseq, dim, cacheSize);
  }

  protected override joinConstraints(parts: readonly Constraint[]): Constraint {
    return stackOf(parts, this.dim);
  }

  // Each slice has its own determinant.
  protected override get eventDim(): number {
    return 0;
  }

  protected override get length(): number {
    return this.transforms.length;
  }

  protected override split(value: Tensor): Tensor[] {
    return value.unbind(this.dim);
  }

  protected override join(values: readonly Tensor[]): Tensor {
    return stack([...values], this.dim);
  }

  protected override joinLogDets(logDets: readonly Tensor[]): Tensor {
    return this.join(logDets);
  }
}
