// What all transforms have in common.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { type Options, Rule } from "../../arguments/rule.js";
import { isGradEnabled } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors.js";
import { leaveTogether } from "../../tensor/lifetime.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";

/** How many values a transform remembers. */
export type CacheSize = 0 | 1;

const cacheSize = /* @__PURE__ */ new Rule<CacheSize>(
  "0 or 1",
  (value) => value === 0 || value === 1,
);

/** What all transforms take after their own arguments. */
export const kTransformOptions = {
  /** With 1, the value that was transformed last is remembered, and its inverse is that value itself; default 0. */
  cacheSize: cacheSize.or(0),
};

const kCacheArguments = { cacheSize: cacheSize.or(1) };

/** Options of transforms. */
export interface TransformOptions extends Options<typeof kTransformOptions> {}

/** What follows a transform's own arguments. */
export type TransformArguments = Arguments<[cacheSize: CacheSize], TransformOptions>;

/** A value and what it was transformed to. */
interface Pair {
  readonly x: Tensor;
  readonly y: Tensor;
  /** What both were then, with all that the transform computes with. */
  readonly state: string;
  /** Whether the gradient of one leads to the other. */
  readonly isRecorded: boolean;
}

/** A function of tensors that knows its inverse and how it stretches space. */
export abstract class Transform {
  /** How many values it remembers: 0 or 1. */
  readonly cacheSize: CacheSize;

  private last: Pair | null = null;

  constructor(...given: TransformArguments) {
    this.cacheSize = readArguments(new.target.name, kTransformOptions, given).cacheSize;
  }

  /** The values that it takes. */
  abstract get domain(): Constraint;

  /** The values that it gives. */
  abstract get codomain(): Constraint;

  /** Returns the transformed values. */
  call(x: Tensor): Tensor {
    const checked = this.checked("call", "x", x);
    const { last } = this;
    if (last?.x === checked && this.isLike(last, checked)) return last.y;
    const y = this.forward(checked);
    this.remember(checked, y, y);
    return y;
  }

  /** Returns the values that are transformed to `y`. */
  inverse(y: Tensor): Tensor {
    const checked = this.checked("inverse", "y", y);
    const { last } = this;
    if (last?.y === checked && this.isLike(last, checked)) return last.x;
    const x = this.invert(checked);
    this.remember(x, checked, x);
    return x;
  }

  /** Returns the logarithm of how much it stretches space at `x`, which it transforms to `y`. */
  logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const where = "logAbsDetJacobian";
    return this.logStretch(this.checked(where, "x", x), this.checked(where, "y", y));
  }

  /** Returns the same transform with another size of its cache. */
  withCache(...given: Arguments<[cacheSize: CacheSize], TransformOptions>): Transform {
    const where = `${this.constructor.name}.withCache`;
    const { cacheSize } = readArguments(where, kCacheArguments, given);
    return cacheSize === this.cacheSize ? this : this.cached(cacheSize);
  }

  /** What withCache() makes. */
  protected cached(cacheSize: CacheSize): Transform {
    const copy = Object.create(Object.getPrototypeOf(this));
    return Object.assign(copy, this, { cacheSize, last: null });
  }

  /** The tensors that it computes with. @internal */
  get tensors(): readonly Tensor[] {
    return Object.values(this).filter((value) => value instanceof Tensor);
  }

  /** What call() computes. */
  protected abstract forward(x: Tensor): Tensor;

  /** What inverse() computes. */
  protected abstract invert(y: Tensor): Tensor;

  /** What logAbsDetJacobian() computes, if it is bijective. */
  protected logStretch(_x: Tensor, _y: Tensor): Tensor {
    const where = `${this.constructor.name}.logAbsDetJacobian`;
    return fail("InvalidArgument", where, "it has no such factor, for it is not bijective.");
  }

  /** Whether the inverse of a transformed value is always that value. */
  get bijective(): boolean {
    return true;
  }

  /** 1 when it rises, -1 when it falls, elementwise where that differs. */
  get sign(): number | Tensor {
    return fail("InvalidArgument", `${this.constructor.name}.sign`, "it neither rises nor falls.");
  }

  /** The inverse transform. */
  get inv(): Transform {
    return new InverseTransform(this);
  }

  /** Returns the shape of what it makes of a tensor of this shape. */
  forwardShape(shape: readonly number[]): readonly number[] {
    return shape;
  }

  /** Returns the shape of what it makes a tensor of this shape of. */
  inverseShape(shape: readonly number[]): readonly number[] {
    return shape;
  }

  /** Whether another transform does the same. */
  equals(other: Transform): boolean {
    return this === other;
  }

  /** Its name. */
  toString(): string {
    return `${this.constructor.name}()`;
  }

  private checked(method: string, name: string, value: Tensor): Tensor {
    return tensorRule.check(`${this.constructor.name}.${method}`, name, value);
  }

  private remember(x: Tensor, y: Tensor, result: Tensor): void {
    if (this.cacheSize === 0) return;
    const given = result === y ? x : y;
    // Where the result outlives a scope, the inverse needs what it was made of.
    if (result !== given) leaveTogether(result, given);
    this.last = { x, y, state: this.stateOf(x, y), isRecorded: isGradEnabled() };
  }

  // Nothing has changed since, and all derivatives that are wanted now are those that were recorded.
  private isLike({ x, y, state, isRecorded }: Pair, given: Tensor): boolean {
    if (x.disposed || y.disposed || state !== this.stateOf(x, y)) return false;
    if (isRecorded || !isGradEnabled()) return true;
    return ![given, ...this.tensors].some((tensor) => tensor.requiresGrad);
  }

  private stateOf(x: Tensor, y: Tensor): string {
    const states = [x, y, ...this.tensors].map((tensor) => {
      return [tensor.isInference ? 0 : tensor.version, tensor.requiresGrad];
    });
    return String(states);
  }
}

class InverseTransform extends Transform {
  constructor(private readonly original: Transform) {
    super();
  }

  // The original remembers both.
  override withCache(...given: TransformArguments): Transform {
    return this.original.withCache(...given).inv;
  }

  override get domain(): Constraint {
    return this.original.codomain;
  }

  override get codomain(): Constraint {
    return this.original.domain;
  }

  override get bijective(): boolean {
    return this.original.bijective;
  }

  override get sign(): number | Tensor {
    return this.original.sign;
  }

  override get inv(): Transform {
    return this.original;
  }

  protected override forward(x: Tensor): Tensor {
    return this.original.inverse(x);
  }

  protected override invert(y: Tensor): Tensor {
    return this.original.call(y);
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    return this.original.logAbsDetJacobian(y, x).neg();
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.original.inverseShape(shape);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.original.forwardShape(shape);
  }

  override equals(other: Transform): boolean {
    return other instanceof InverseTransform && this.original.equals(other.original);
  }

  override toString(): string {
    return `${this.original}.inv`;
  }
}

export const transform = /* @__PURE__ */ new Rule<Transform>(
  "a transform",
  (value) => value instanceof Transform,
);
