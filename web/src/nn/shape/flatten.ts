import { readArguments } from "../../arguments/read.js";
import { integer, listOf, type Options } from "../../arguments/rule.js";
import { flatten, unflatten } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

const kFlattenArguments = {
  /** The first dimension to join; default 1. */
  startDim: integer.or(1),
  /** The last one; default -1. */
  endDim: integer.or(-1),
};

/** Options of `Flatten`. */
export type FlattenOptions = Options<typeof kFlattenArguments>;

/** Joins the dimensions from `startDim` (default 1) to `endDim` (default the last) into one. */
export class Flatten extends Module {
  readonly startDim: number;
  readonly endDim: number;

  constructor(startDim?: number, endDim?: number);
  constructor(options?: FlattenOptions);
  constructor(...given: unknown[]) {
    super();
    const { startDim, endDim } = readArguments(new.target.name, kFlattenArguments, given);
    this.startDim = startDim;
    this.endDim = endDim;
  }

  override forward(input: Tensor): Tensor {
    return flatten(input, this.startDim, this.endDim);
  }

  override extraRepr(): string {
    return formatArguments([], { startDim: this.startDim, endDim: this.endDim });
  }
}

const kUnflattenArguments = { dim: integer, unflattenedSize: listOf(integer) };

/** Splits the dimension `dim` into several of the sizes `unflattenedSize`, one of which may be -1. */
export class Unflatten extends Module {
  readonly dim: number;
  readonly unflattenedSize: readonly number[];

  constructor(...given: [dim: number, unflattenedSize: readonly number[]]) {
    super();
    const { dim, unflattenedSize } = readArguments(new.target.name, kUnflattenArguments, given);
    this.dim = dim;
    this.unflattenedSize = unflattenedSize;
  }

  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, this.unflattenedSize);
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim, unflattenedSize: this.unflattenedSize });
  }
}
