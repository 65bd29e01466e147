// What all transforms have in common.

import { readNothing } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints.js";

/** A function of tensors that knows its inverse and how it stretches space. */
export abstract class Transform {
  constructor(...given: []) {
    readNothing(new.target.name, given);
  }

  /** The values that it takes. */
  abstract get domain(): Constraint;

  /** The values that it gives. */
  abstract get codomain(): Constraint;

  /** Returns the transformed values. */
  call(x: Tensor): Tensor {
    return this.forward(this.#checked("call", "x", x));
  }

  /** Returns the values that are transformed to `y`. */
  inverse(y: Tensor): Tensor {
    return this.invert(this.#checked("inverse", "y", y));
  }

  /** Returns the logarithm of how much it stretches space at `x`, which it transforms to `y`. */
  logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const where = "logAbsDetJacobian";
    return this.logStretch(this.#checked(where, "x", x), this.#checked(where, "y", y));
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

  #checked(method: string, name: string, value: Tensor): Tensor {
    return tensorRule.check(`${this.constructor.name}.${method}`, name, value);
  }
}

class InverseTransform extends Transform {
  constructor(private readonly original: Transform) {
    super();
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
