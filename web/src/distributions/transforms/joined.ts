// Transforms that are each applied to a part of a tensor.

import type { Forms } from "../../arguments/read.js";
import { integer, listOf, type Options, type Rules, size } from "../../arguments/rule.js";
import { add, cat, stack } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { partLengths } from "../base/arguments.js";
import { sumRightmost } from "../base/numbers.js";
import type { Constraint } from "../constraints/constraint.js";
import { cat as catOf, stack as stackOf } from "../constraints/constraints.js";
import { areEqual, withCaches } from "./compose.js";
import {
  type CacheSize,
  type DeclaredTransform,
  type Transform,
  type TransformClass,
  type TransformOptions,
  transform,
  transformation,
} from "./transform.js";

const kDimOption = {
  /** The dimension along which the parts are joined; default 0. */
  dim: integer.or(0),
};
const kLengthsOption = {
  /** How many elements along `dim` each transform gets; default 1. */
  lengths: listOf(size).orNull(),
};

/** Options of `StackTransform`. */
export interface StackTransformOptions extends TransformOptions, Options<typeof kDimOption> {}

/** Options of `CatTransform`. */
export interface CatTransformOptions
  extends StackTransformOptions,
    Options<typeof kLengthsOption> {}

interface JoinedFields {
  /** The transforms, in the order in which they are applied. */
  readonly transforms: readonly Transform[];
  /** The dimension along which the parts are joined. */
  readonly dim: number;
}

type Joined<Own> = DeclaredTransform & JoinedFields & Own;

/** How parts of a tensor are split and joined. */
interface Joining<G extends unknown[], Own> {
  /** Only its type is used: the constructor's arguments. */
  given: G;
  /** The rules of the arguments besides the transforms and the dimension. */
  arguments: Rules;
  /** Returns the fields besides the transforms and the dimension. */
  own: (call: never, where: string, count: number) => Own;
  constraint: (parts: readonly Constraint[], self: Joined<Own>) => Constraint;
  /** How many dimensions one value has, over which the log determinants of the parts are summed. */
  eventDim: (self: Joined<Own>) => number;
  /** The size of a tensor along `dim`. */
  length: (self: Joined<Own>) => number;
  split: (value: Tensor, self: Joined<Own>) => Tensor[];
  join: (values: Tensor[], self: Joined<Own>) => Tensor;
  joinLogDets: (logDets: Tensor[], self: Joined<Own>, ndim: number) => Tensor;
}

interface Call extends JoinedFields {
  readonly tseq: readonly Transform[];
  readonly cacheSize: CacheSize;
}

// Returns the base class of a transform that applies several transforms, each to a part of a tensor.
function joined<G extends unknown[], Own>(
  joining: Joining<G, Own>,
): TransformClass<G, Joined<Own>> {
  const { constraint, eventDim, join, joinLogDets } = joining;
  const split = (value: Tensor, self: Joined<Own>): Tensor[] => {
    const length = joining.length(self);
    if (value.shape.at(self.dim) === length) return joining.split(value, self);
    const message = `expected ${length} elements along dim ${self.dim}, got shape [${value.shape}].`;
    return fail("ShapeMismatch", self.constructor.name, message);
  };
  return transformation<G, Rules, JoinedFields & Own>({
    arguments: { tseq: listOf(transform), ...kDimOption, ...joining.arguments },
    fields(call, where) {
      const { tseq, transforms = tseq, dim, cacheSize, ...rest } = call as unknown as Call;
      const own = joining.own(rest as never, where, transforms.length);
      return { transforms: withCaches(transforms, cacheSize), dim, ...own };
    },
    tensors: ({ transforms }) => transforms.flatMap((part) => part.tensors),
    domain: (self) =>
      constraint(
        self.transforms.map((part) => part.domain),
        self,
      ),
    codomain: (self) =>
      constraint(
        self.transforms.map((part) => part.codomain),
        self,
      ),
    bijective: ({ transforms }) => transforms.every((part) => part.bijective),
    forward(x, self) {
      const xs = split(x, self);
      return join(
        self.transforms.map((part, i) => part.call(xs[i] as Tensor)),
        self,
      );
    },
    inverse(y, self) {
      const ys = split(y, self);
      return join(
        self.transforms.map((part, i) => part.inverse(ys[i] as Tensor)),
        self,
      );
    },
    logStretch(x, y, self) {
      const [xs, ys] = [split(x, self), split(y, self)];
      const logDets = self.transforms.map((part, i) => {
        const logDet = part.logAbsDetJacobian(xs[i] as Tensor, ys[i] as Tensor);
        return sumRightmost(logDet, Math.max(eventDim(self) - eventDimOf(part), 0));
      });
      return joinLogDets(logDets, self, x.ndim);
    },
    equals: (other, self) => other.dim === self.dim && areEqual(self.transforms, other.transforms),
    text: ({ transforms }) => transforms.join(", "),
  });
}

function eventDimOf(part: Transform): number {
  return Math.max(part.domain.eventDim, part.codomain.eventDim);
}

interface Lengths {
  /** How many elements along `dim` each transform gets. */
  readonly lengths: readonly number[];
}

/** Applies each transform to the next `lengths[i]` elements along a dimension and concatenates the results. */
export class CatTransform extends joined({
  given: {} as [
    tseq: readonly Transform[],
    ...rest: Forms<
      [dim: number, lengths: readonly number[] | null, cacheSize: CacheSize],
      CatTransformOptions
    >,
  ],
  arguments: kLengthsOption,
  own: ({ lengths }: { lengths: readonly number[] | null }, where, count): Lengths => ({
    lengths: partLengths(where, count, lengths),
  }),
  constraint: (parts, { dim, lengths }) => catOf(parts, dim, lengths),
  eventDim: ({ transforms }) => Math.max(0, ...transforms.map(eventDimOf)),
  length: ({ lengths }) => lengths.reduce((sum, length) => sum + length, 0),
  split: (value, { dim, lengths }) => value.splitWithSizes(lengths, dim),
  join: (values, { dim }) => cat(values, dim),
  // If the parts are joined along a dimension of one value, their log determinants are summed.
  joinLogDets(logDets, { dim, transforms }, ndim) {
    const eventDim = Math.max(0, ...transforms.map(eventDimOf));
    const left = (dim >= 0 ? dim - ndim : dim) + eventDim;
    return left < 0 ? cat(logDets, left) : logDets.reduce((sum, logDet) => add(sum, logDet));
  },
}) {}

/** Applies each transform to one slice along a dimension and stacks the results. */
export class StackTransform extends joined({
  given: {} as [
    tseq: readonly Transform[],
    ...rest: Forms<[dim: number, cacheSize: CacheSize], StackTransformOptions>,
  ],
  arguments: {},
  own: () => ({}),
  constraint: (parts, { dim }) => stackOf(parts, dim),
  // Each slice has its own determinant.
  eventDim: () => 0,
  length: ({ transforms }) => transforms.length,
  split: (value, { dim }) => value.unbind(dim),
  join: (values, { dim }) => stack(values, dim),
  joinLogDets: (logDets, { dim }) => stack(logDets, dim),
}) {}
