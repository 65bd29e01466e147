// Losses with a margin as modules.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
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
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLossArguments, Loss, type Reduction } from "./losses.js";

function marginArguments(margin: number) {
  return {
    /** How far apart is far enough; default 0, for `HingeEmbeddingLoss` and `MultiMarginLoss` 1. */
    margin: number.or(margin),
    ...kLossArguments,
  };
}

const kFromZero = marginArguments(0);

const kFromOne = marginArguments(1);

const kTripletMarginArguments = {
  /** The distance from which on nothing is lost; default 1. */
  margin: kFromOne.margin,
  /** The norm that measures distances; default 2. */
  p: number.or(2),
  /** Added to differences before they are measured; default 1e-6. */
  eps: number.or(1e-6),
  /** Let the distance of positive from negative count too; default false. */
  swap: boolean.or(false),
  ...kLossArguments,
};

const kMultiMarginArguments = {
  /** The power of what lacks, 1 or 2; default 1. */
  p: number.or(1),
  /** The distance from which on nothing is lost; default 1. */
  margin: kFromOne.margin,
  /** A weight per class. */
  weight: tensorRule.orNull(),
  ...kLossArguments,
};

const kMultiLabelSoftMarginArguments = {
  /** A weight per class. */
  weight: tensorRule.orNull(),
  ...kLossArguments,
};

/** Options of the losses with a margin. */
export type MarginLossOptions = Options<typeof kFromZero>;

/** Options of `TripletMarginLoss`. */
export type TripletMarginLossOptions = Options<typeof kTripletMarginArguments>;

/** Options of `MultiMarginLoss`. */
export type MultiMarginLossOptions = Options<typeof kMultiMarginArguments>;

/** Options of `MultiLabelSoftMarginLoss`. */
export type MultiLabelSoftMarginLossOptions = Options<typeof kMultiLabelSoftMarginArguments>;

abstract class MarginLoss extends Loss {
  readonly margin: number;

  constructor({ margin, reduction }: { margin: number; reduction: Reduction }) {
    super({ reduction });
    this.margin = margin;
  }
}

/** How far `input1` is from being above (target 1) or below (target -1) `input2`. */
export class MarginRankingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = readArguments(new.target.name, kFromZero, given);
    super(options);
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return marginRankingLoss(input1, input2, target, { margin, reduction });
  }
}

/** A distance itself (target 1), or how much it lacks to the margin (target -1). */
export class HingeEmbeddingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = readArguments(new.target.name, kFromOne, given);
    super(options);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return hingeEmbeddingLoss(input, target, { margin, reduction });
  }
}

/** One minus the cosine of two vectors (target 1), or how far it is above the margin (target -1). */
export class CosineEmbeddingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = readArguments(new.target.name, kFromZero, given);
    super(options);
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return cosineEmbeddingLoss(input1, input2, target, { margin, reduction });
  }
}

/** How far an anchor is from being the margin nearer to a positive than to a negative example. */
export class TripletMarginLoss extends MarginLoss {
  readonly p: number;
  readonly eps: number;
  readonly swap: boolean;

  constructor(
    ...given: Arguments<
      [margin: number, p: number, eps: number, swap: boolean, reduction: Reduction],
      TripletMarginLossOptions
    >
  ) {
    const options = readArguments(new.target.name, kTripletMarginArguments, given);
    super(options);
    if (this.margin <= 0) {
      const told = `margin must be greater than 0, got ${this.margin}.`;
      fail("InvalidArgument", "TripletMarginLoss", told);
    }
    this.p = options.p;
    this.eps = options.eps;
    this.swap = options.swap;
  }

  override forward(anchor: Tensor, positive: Tensor, negative: Tensor): Tensor {
    const { margin, p, eps, swap, reduction } = this;
    return tripletMarginLoss(anchor, positive, negative, { margin, p, eps, swap, reduction });
  }
}

/** How far the scores of other classes come within the margin of the target's. */
export class MultiMarginLoss extends MarginLoss {
  readonly p: number;
  readonly weight: Tensor | null;

  constructor(
    ...given: Arguments<
      [p: number, margin: number, weight: Tensor | null, reduction: Reduction],
      MultiMarginLossOptions
    >
  ) {
    const options = readArguments(new.target.name, kMultiMarginArguments, given);
    super(options);
    this.p = options.p;
    this.weight = options.weight;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { p, margin, weight, reduction } = this;
    return multiMarginLoss(input, target, { p, margin, weight, reduction });
  }
}

/** How far the scores of other classes come within one of those of several targets. */
export class MultiLabelMarginLoss extends Loss {
  override forward(input: Tensor, target: Tensor): Tensor {
    return multilabelMarginLoss(input, target, { reduction: this.reduction });
  }
}

/** Cross entropy of independent classes from their logits, as a mean over the classes. */
export class MultiLabelSoftMarginLoss extends Loss {
  readonly weight: Tensor | null;

  constructor(
    ...given: Arguments<
      [weight: Tensor | null, reduction: Reduction],
      MultiLabelSoftMarginLossOptions
    >
  ) {
    const options = readArguments(new.target.name, kMultiLabelSoftMarginArguments, given);
    super({ reduction: options.reduction });
    this.weight = options.weight;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, reduction } = this;
    return multilabelSoftMarginLoss(input, target, { weight, reduction });
  }
}

/** log(1 + exp(-target * input)), the logistic loss of targets 1 and -1. */
export class SoftMarginLoss extends Loss {
  override forward(input: Tensor, target: Tensor): Tensor {
    return softMarginLoss(input, target, { reduction: this.reduction });
  }
}
