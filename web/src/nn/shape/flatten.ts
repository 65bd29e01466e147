import { integer, listOf, type Options } from "../../arguments/rule.js";
import { flatten, unflatten } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { declared } from "../layer.js";

const kFlatten = {
  /** The first dimension to join; default 1. */
  startDim: integer.or(1),
  /** The last dimension to join; default -1. */
  endDim: integer.or(-1),
};

/** Options of `Flatten`. */
export type FlattenOptions = Options<typeof kFlatten>;

/** Joins the dimensions from `startDim` (default 1) to `endDim` (default the last) into one. */
export class Flatten extends declared<
  [startDim?: number, endDim?: number] | [options?: FlattenOptions],
  typeof kFlatten
>(kFlatten) {
  override forward(input: Tensor): Tensor {
    return flatten(input, this.startDim, this.endDim);
  }
}

const kUnflatten = {
  /** The dimension to split. */
  dim: integer,
  /** The sizes that it is split into. */
  unflattenedSize: listOf(integer),
};

/** Splits the dimension `dim` into several of the sizes `unflattenedSize`, one of which may be -1. */
export class Unflatten extends declared<
  [dim: number, unflattenedSize: readonly number[]],
  typeof kUnflatten
>(kUnflatten) {
  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, this.unflattenedSize);
  }
}
