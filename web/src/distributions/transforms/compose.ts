import { readArguments } from "../../arguments/read.js";
import { listOf } from "../../arguments/rule.js";
import { zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { sumRightmost } from "../base/numbers.js";
import { type Constraint, independent, real } from "../constraints/constraints.js";
import {
  type CacheSize,
  kTransformOptions,
  Transform,
  type TransformArguments,
  transform,
} from "./transform.js";

const kArguments = { parts: listOf(transform), ...kTransformOptions };

/** Several transforms, one after another. */
export class ComposeTransform extends Transform {
  /** The transforms, in their order. */
  readonly parts: readonly Transform[];

  constructor(...given: [parts: readonly Transform[], ...rest: TransformArguments]) {
    const { parts, cacheSize } = readArguments(new.target.name, kArguments, given);
    super({ cacheSize });
    this.parts = withCaches(parts, cacheSize);
  }

  protected override cached(cacheSize: CacheSize): Transform {
    return new ComposeTransform(this.parts, { cacheSize });
  }

  override get tensors(): readonly Tensor[] {
    return this.parts.flatMap((part) => part.tensors);
  }

  override get domain(): Constraint {
    const [first, last] = [this.parts[0], this.parts.at(-1)];
    if (first === undefined || last === undefined) return real;
    const eventDim = [...this.parts].reverse().reduce((dim, { domain, codomain }) => {
      return Math.max(dim + domain.eventDim - codomain.eventDim, domain.eventDim);
    }, last.codomain.eventDim);
    return widened(first.domain, eventDim);
  }

  override get codomain(): Constraint {
    const [first, last] = [this.parts[0], this.parts.at(-1)];
    if (first === undefined || last === undefined) return real;
    const eventDim = this.parts.reduce((dim, { domain, codomain }) => {
      return Math.max(dim + codomain.eventDim - domain.eventDim, codomain.eventDim);
    }, first.domain.eventDim);
    return widened(last.codomain, eventDim);
  }

  override get bijective(): boolean {
    return this.parts.every((part) => part.bijective);
  }

  override get sign(): number | Tensor {
    return this.parts.reduce<number | Tensor>((sign, part) => {
      const other = part.sign;
      if (typeof sign !== "number") return sign.mul(other);
      return typeof other === "number" ? sign * other : other.mul(sign);
    }, 1);
  }

  override get inv(): Transform {
    return new ComposeTransform([...this.parts].reverse().map((part) => part.inv));
  }

  protected override forward(x: Tensor): Tensor {
    return this.parts.reduce((value, part) => part.call(value), x);
  }

  protected override invert(y: Tensor): Tensor {
    return this.inv.call(y);
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    let eventDim = this.domain.eventDim;
    let value = x;
    const terms = this.parts.map((part, i) => {
      const next = i === this.parts.length - 1 ? y : part.call(value);
      const excess = eventDim - part.domain.eventDim;
      const term = sumRightmost(part.logAbsDetJacobian(value, next), excess);
      eventDim += part.codomain.eventDim - part.domain.eventDim;
      value = next;
      return term;
    });
    const [first, ...rest] = terms;
    return first ? rest.reduce((sum, term) => sum.add(term), first) : zerosLike(x);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.parts.reduce((sizes, part) => part.forwardShape(sizes), shape);
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return [...this.parts].reverse().reduce((sizes, part) => part.inverseShape(sizes), shape);
  }

  override equals(other: Transform): boolean {
    return (
      other instanceof ComposeTransform &&
      other.parts.length === this.parts.length &&
      this.parts.every((part, i) => part.equals(other.parts[i] as Transform))
    );
  }

  override toString(): string {
    return `${this.constructor.name}(${this.parts.join(", ")})`;
  }
}

/** Transforms that remember as much as the one they are parts of, at least. */
export function withCaches(parts: readonly Transform[], cacheSize: CacheSize): Transform[] {
  return parts.map((part) => (cacheSize === 0 ? part : part.withCache(cacheSize)));
}

function widened(constraint: Constraint, eventDim: number): Constraint {
  const excess = eventDim - constraint.eventDim;
  return excess > 0 ? independent(constraint, excess) : constraint;
}
