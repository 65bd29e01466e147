import { integer, listOf, type Options } from "../../arguments/rule.js";
import { flatten, unflatten } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared, type Fields } from "../layer.js";
import type { Module } from "../module.js";

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
  ClassWith<[], [startDim: number, endDim: number], FlattenOptions, typeof kFlatten>,
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
  new (
    dim: number,
    unflattenedSize: readonly number[],
  ) => Module & Fields<typeof kUnflatten>,
  typeof kUnflatten
>(kUnflatten) {
  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, this.unflattenedSize);
  }
}
