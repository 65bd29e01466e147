// What all transforms have in common.

import { Rule } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints.js";

/** A function of tensors that knows its inverse and how it stretches space. */
export abstract class Transform {
  /** The values that it takes. */
  abstract get domain(): Constraint;

  /** The values that it gives. */
  abstract get codomain(): Constraint;

  /** Returns the transformed values. */
  abstract call(x: Tensor): Tensor;

  /** Returns the values that are transformed to `y`. */
  abstract inverse(y: Tensor): Tensor;

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

  /** Returns the logarithm of how much it stretches space at `x`, which it transforms to `y`. */
  logAbsDetJacobian(_x: Tensor, _y: Tensor): Tensor {
    const where = `${this.constructor.name}.logAbsDetJacobian`;
    return fail("InvalidArgument", where, "it has no such factor, for it is not bijective.");
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
}

class InverseTransform extends Transform {
  constructor(private readonly forward: Transform) {
    super();
  }

  override get domain(): Constraint {
    return this.forward.codomain;
  }

  override get codomain(): Constraint {
    return this.forward.domain;
  }

  override get bijective(): boolean {
    return this.forward.bijective;
  }

  override get sign(): number | Tensor {
    return this.forward.sign;
  }

  override get inv(): Transform {
    return this.forward;
  }

  override call(x: Tensor): Tensor {
    return this.forward.inverse(x);
  }

  override inverse(y: Tensor): Tensor {
    return this.forward.call(y);
  }

  override logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    return this.forward.logAbsDetJacobian(y, x).neg();
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.forward.inverseShape(shape);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.forward.forwardShape(shape);
  }

  override equals(other: Transform): boolean {
    return other instanceof InverseTransform && this.forward.equals(other.forward);
  }

  override toString(): string {
    return `${this.forward}.inv`;
  }
}

export const transform = /* @__PURE__ */ new Rule<Transform>(
  "a transform",
  (value) => value instanceof Transform,
);
