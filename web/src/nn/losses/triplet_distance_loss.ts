// The triplet loss with a given distance function.

import { readArguments, readOptions } from "../../arguments/read.js";
import { boolean, functionOf, number, type Options } from "../../arguments/rule.js";
import { add, clamp, mean, minimum, pairwiseDistance, sub, sum } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { kLossArguments, type Reduction } from "./loss_layer.js";

/** Returns how far apart the rows of two tensors are. */
export type DistanceFunction = (x1: Tensor, x2: Tensor) => Tensor;

const kOptions = {
  /** The distance between two batches of rows; default `pairwiseDistance`. */
  distanceFunction: functionOf<DistanceFunction>().orNull(),
  /** The loss is 0 where the positive example is nearer than the negative one by this much; default 1. */
  margin: number.or(1),
  /** Use the distance of the positive from the negative example where it is smaller; default false. */
  swap: boolean.or(false),
  ...kLossArguments,
};

const kArguments = {
  anchor: tensorRule,
  positive: tensorRule,
  negative: tensorRule,
  ...kOptions,
};

/** Options of `TripletMarginWithDistanceLoss`. */
export type TripletDistanceOptions = Options<typeof kOptions & typeof kLossArguments>;

/** How far an anchor is from being nearer by the margin to a positive than to a negative example. */
export function tripletMarginWithDistanceLoss(
  ...given: [anchor: Tensor, positive: Tensor, negative: Tensor, options?: TripletDistanceOptions]
): Tensor {
  const call = readArguments("tripletMarginWithDistanceLoss", kArguments, given);
  const { anchor, positive, negative, distanceFunction, margin, swap, reduction } = call;
  if (!(margin > 0)) {
    const message = `margin must be greater than 0, got ${margin}.`;
    fail("InvalidArgument", "tripletMarginWithDistanceLoss", message);
  }
  const distance = distanceFunction ?? pairwiseDistance;
  const near = distance(anchor, positive);
  const toAnchor = distance(anchor, negative);
  const far = swap ? minimum(toAnchor, distance(positive, negative)) : toAnchor;
  const each = clamp(sub(add(near, margin), far), { min: 0 });
  if (reduction === "none") return each;
  return reduction === "sum" ? sum(each) : mean(each);
}

/** `tripletMarginWithDistanceLoss` as a module. */
export class TripletMarginWithDistanceLoss extends Module {
  readonly distanceFunction: DistanceFunction | null;
  readonly margin: number;
  readonly swap: boolean;
  readonly reduction: Reduction;

  constructor(...given: [options?: TripletDistanceOptions]) {
    super();
    const own = readOptions(new.target.name, kOptions, given);
    this.distanceFunction = own.distanceFunction;
    this.margin = own.margin;
    this.swap = own.swap;
    this.reduction = own.reduction;
  }

  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { distanceFunction, margin, swap, reduction } = this;
    const options = { distanceFunction, margin, swap, reduction };
    return tripletMarginWithDistanceLoss(anchor, positive, negative, options);
  }
}
