import { listOf } from "../../arguments/rule.js";
import { zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { sumRightmost } from "../base/numbers.js";
import type { Constraint } from "../constraints/constraint.js";
import { independent, real } from "../constraints/constraints.js";
import {
  type CacheSize,
  type Transform,
  type TransformArguments,
  transform,
  transformation,
} from "./transform.js";

/** The composition of several transforms. */
export class ComposeTransform extends transformation({
  given: {} as [parts: readonly Transform[], ...rest: TransformArguments],
  arguments: {
    /** The transforms, in the order in which they are applied. */
    parts: listOf(transform),
  },
  fields: ({ parts, cacheSize }) => ({ parts: withCaches(parts, cacheSize) }),
  tensors: ({ parts }) => parts.flatMap((part) => part.tensors),
  domain({ parts }) {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined) return real;
    const eventDim = [...parts].reverse().reduce((dim, { domain, codomain }) => {
      return Math.max(dim + domain.eventDim - codomain.eventDim, domain.eventDim);
    }, last.codomain.eventDim);
    return widened(first.domain, eventDim);
  },
  codomain({ parts }) {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined) return real;
    const eventDim = parts.reduce((dim, { domain, codomain }) => {
      return Math.max(dim + codomain.eventDim - domain.eventDim, codomain.eventDim);
    }, first.domain.eventDim);
    return widened(last.codomain, eventDim);
  },
  bijective: ({ parts }) => parts.every((part) => part.bijective),
  sign: ({ parts }) =>
    parts.reduce<number | Tensor>((sign, part) => {
      const other = part.sign;
      if (typeof sign !== "number") return sign.mul(other);
      return typeof other === "number" ? sign * other : other.mul(sign);
    }, 1),
  forward: (x, { parts }) => parts.reduce((value, part) => part.call(value), x),
  inverse: (y, self) => self.inv.call(y),
  logStretch(x, y, { domain, parts }) {
    let { eventDim } = domain;
    let value = x;
    const terms = parts.map((part, i) => {
      const next = i === parts.length - 1 ? y : part.call(value);
      const excess = eventDim - part.domain.eventDim;
      const term = sumRightmost(part.logAbsDetJacobian(value, next), excess);
      eventDim += part.codomain.eventDim - part.domain.eventDim;
      value = next;
      return term;
    });
    const [first, ...rest] = terms;
    return first ? rest.reduce((sum, term) => sum.add(term), first) : zerosLike(x);
  },
  forwardShape: (shape, { parts }) =>
    parts.reduce((sizes, part) => part.forwardShape(sizes), shape),
  inverseShape: (shape, { parts }) =>
    [...parts].reverse().reduce((sizes, part) => part.inverseShape(sizes), shape),
  equals: (other, { parts }) => areEqual(parts, other.parts),
  text: ({ parts }) => parts.join(", "),
}) {
  override get inv(): Transform {
    return new ComposeTransform([...this.parts].reverse().map((part) => part.inv));
  }
}

/** Returns whether two lists contain equal transforms. */
export function areEqual(a: readonly Transform[], b: readonly Transform[]): boolean {
  return a.length === b.length && a.every((part, i) => part.equals(b[i] as Transform));
}

/** Returns the parts with at least the cache size of the whole. */
export function withCaches(parts: readonly Transform[], cacheSize: CacheSize): Transform[] {
  return parts.map((part) => (cacheSize === 0 ? part : part.withCache(cacheSize)));
}

function widened(constraint: Constraint, eventDim: number): Constraint {
  const excess = eventDim - constraint.eventDim;
  return excess > 0 ? independent(constraint, excess) : constraint;
}
