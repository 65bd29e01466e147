// Losses with a margin.

import { boolean, number } from "../../arguments/rule.js";
import {
  cosineEmbeddingLoss,
  hingeEmbeddingLoss,
  marginRankingLoss,
  multilabelMarginLoss,
  multilabelSoftMarginLoss,
  multiMarginLoss,
  softMarginLoss,
  tripletMarginLoss,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { bufferRule } from "../layer.js";
import { type LossOptionsOf, lossFields, lossLayer } from "./loss_layer.js";

const kMargin = {
  /** The margin; default 0, for `HingeEmbeddingLoss` and `MultiMarginLoss` 1. */
  margin: number.or(0),
};

/** Options of the losses with a margin. */
export type MarginLossOptions = LossOptionsOf<typeof kMargin>;

/** By how much `input1` falls short of exceeding `input2` by the margin (target 1), or the reverse (target -1). */
export class MarginRankingLoss extends lossFields(kMargin, ["margin", "reduction"] as [
  margin: "margin",
  reduction: "reduction",
]) {
  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return marginRankingLoss(input1, input2, target, { margin, reduction });
  }
}

/** For target 1, one minus the cosine of two vectors; for target -1, how far their cosine exceeds the margin. */
export class CosineEmbeddingLoss extends lossFields(kMargin, ["margin", "reduction"] as [
  margin: "margin",
  reduction: "reduction",
]) {
  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return cosineEmbeddingLoss(input1, input2, target, { margin, reduction });
  }
}

const kHinge = {
  /** The margin; default 1. */
  margin: number.or(1),
};

/** For target 1, a distance; for target -1, how far it is below the margin. */
export class HingeEmbeddingLoss extends lossLayer(
  kHinge,
  ["margin", "reduction"] as [margin: "margin", reduction: "reduction"],
  hingeEmbeddingLoss,
) {}

const kTripletMargin = {
  /** The loss is 0 where the positive example is nearer than the negative one by this much; default 1. */
  margin: number.or(1),
  /** The norm that measures distances; default 2. */
  p: number.or(2),
  /** Added to differences before they are measured; default 1e-6. */
  eps: number.or(1e-6),
  /** Use the distance of the positive from the negative example where it is smaller; default false. */
  swap: boolean.or(false),
};

/** Options of `TripletMarginLoss`. */
export type TripletMarginLossOptions = LossOptionsOf<typeof kTripletMargin>;

/** How much the distance to a positive example, plus the margin, exceeds the distance to a negative example. */
export class TripletMarginLoss extends lossFields(
  kTripletMargin,
  ["margin", "p", "eps", "swap", "reduction"] as [
    margin: "margin",
    p: "p",
    eps: "eps",
    swap: "swap",
    reduction: "reduction",
  ],
  checkMargin,
) {
  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { margin, p, eps, swap, reduction } = this;
    return tripletMarginLoss(anchor, positive, negative, { margin, p, eps, swap, reduction });
  }
}

function checkMargin({ margin }: { readonly margin: number }): string | undefined {
  return margin > 0 ? undefined : `margin must be greater than 0, got ${margin}.`;
}

const kMultiMargin = {
  /** The exponent of the amount by which the margin is violated, 1 or 2; default 1. */
  p: number.or(1),
  /** The loss is 0 for classes whose score is below that of the target by this much; default 1. */
  margin: number.or(1),
  /** A weight per class. */
  weight: bufferRule,
};

/** Options of `MultiMarginLoss`. */
export type MultiMarginLossOptions = LossOptionsOf<typeof kMultiMargin>;

/** By how much the scores of other classes come within the margin of the target's score. */
export class MultiMarginLoss extends lossLayer(
  kMultiMargin,
  ["p", "margin", "weight", "reduction"] as [
    p: "p",
    margin: "margin",
    weight: "weight",
    reduction: "reduction",
  ],
  multiMarginLoss,
) {}

/** How much the scores of other classes exceed those of several target classes minus 1. */
export class MultiLabelMarginLoss extends lossLayer(
  {},
  ["reduction"] as [reduction: "reduction"],
  multilabelMarginLoss,
) {}

const kMultiLabelSoftMargin = {
  /** A weight per class. */
  weight: bufferRule,
};

/** Options of `MultiLabelSoftMarginLoss`. */
export type MultiLabelSoftMarginLossOptions = LossOptionsOf<typeof kMultiLabelSoftMargin>;

/** Cross entropy of independent classes from their logits, as a mean over the classes. */
export class MultiLabelSoftMarginLoss extends lossLayer(
  kMultiLabelSoftMargin,
  ["weight", "reduction"] as [weight: "weight", reduction: "reduction"],
  multilabelSoftMarginLoss,
) {}

/** log(1 + exp(-target * input)), the logistic loss of targets 1 and -1. */
export class SoftMarginLoss extends lossLayer(
  {},
  ["reduction"] as [reduction: "reduction"],
  softMarginLoss,
) {}
