// The triplet loss with a distance of the user's own.

import { add, clamp, mean, minimum, pairwiseDistance, sub, sum } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import type { LossOptions, Reduction } from "./losses.js";
import { Module } from "./module.js";

/** Returns how far apart the rows of two tensors are. */
export type DistanceFunction = (x1: Tensor, x2: Tensor) => Tensor;

/** Options of `TripletMarginWithDistanceLoss`. */
export interface TripletDistanceOptions extends LossOptions {
  /** Default `pairwiseDistance`. */
  distanceFunction?: DistanceFunction | null;
  /** How much nearer is near enough; default 1. */
  margin?: number;
  /** Let the distance of positive from negative count too; default false. */
  swap?: boolean;
}

/** How far an anchor is from being the margin nearer to a positive than to a negative example. */
export function tripletMarginWithDistanceLoss(
  anchor: Tensor,
  positive: Tensor,
  negative: Tensor,
  options: TripletDistanceOptions = {},
): Tensor {
  const { distanceFunction, margin = 1, swap = false, reduction = "mean" } = options;
  if (!(margin > 0)) {
    const told = `margin must be greater than 0, got ${margin}.`;
    fail("InvalidArgument", "tripletMarginWithDistanceLoss", told);
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

  constructor(options: TripletDistanceOptions = {}) {
    super();
    this.distanceFunction = options.distanceFunction ?? null;
    this.margin = options.margin ?? 1;
    this.swap = options.swap ?? false;
    this.reduction = options.reduction ?? "mean";
  }

  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { distanceFunction, margin, swap, reduction } = this;
    const options = { distanceFunction, margin, swap, reduction };
    return tripletMarginWithDistanceLoss(anchor, positive, negative, options);
  }
}
