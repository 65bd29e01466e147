// Losses with a margin as modules.

import {
  cosineEmbeddingLoss,
  hingeEmbeddingLoss,
  marginRankingLoss,
  multilabelMarginLoss,
  multilabelSoftMarginLoss,
  multiMarginLoss,
  softMarginLoss,
  tripletMarginLoss,
} from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import { type Arguments, namedArguments } from "../runtime/named_arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { Loss, type LossOptions, type Reduction } from "./losses.js";

/** Options of the losses with a margin. */
export interface MarginLossOptions extends LossOptions {
  /** How far apart is far enough; default 0, for `HingeEmbeddingLoss` and `MultiMarginLoss` 1. */
  margin?: number;
}

/** Options of `TripletMarginLoss`. */
export interface TripletMarginLossOptions extends MarginLossOptions {
  /** The norm that measures distances; default 2. */
  p?: number;
  /** Added to differences before they are measured; default 1e-6. */
  eps?: number;
  /** Let the distance of positive from negative count too; default false. */
  swap?: boolean;
}

/** Options of `MultiMarginLoss`. */
export interface MultiMarginLossOptions extends MarginLossOptions {
  /** The power of what lacks, 1 or 2; default 1. */
  p?: number;
  /** A weight per class. */
  weight?: Tensor | null;
}

/** Options of `MultiLabelSoftMarginLoss`. */
export interface MultiLabelSoftMarginLossOptions extends LossOptions {
  /** A weight per class. */
  weight?: Tensor | null;
}

abstract class MarginLoss extends Loss {
  readonly margin: number;

  constructor(options: MarginLossOptions, margin: number) {
    super(options);
    this.margin = options.margin ?? margin;
  }
}

/** How far `input1` is from being above (target 1) or below (target -1) `input2`. */
export class MarginRankingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = namedArguments<MarginLossOptions>(["margin", "reduction"], given);
    super(options, 0);
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return marginRankingLoss(input1, input2, target, { margin, reduction });
  }
}

/** A distance itself (target 1), or how much it lacks to the margin (target -1). */
export class HingeEmbeddingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = namedArguments<MarginLossOptions>(["margin", "reduction"], given);
    super(options, 1);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { margin, reduction } = this;
    return hingeEmbeddingLoss(input, target, { margin, reduction });
  }
}

/** One minus the cosine of two vectors (target 1), or how far it is above the margin (target -1). */
export class CosineEmbeddingLoss extends MarginLoss {
  constructor(...given: Arguments<[margin: number, reduction: Reduction], MarginLossOptions>) {
    const options = namedArguments<MarginLossOptions>(["margin", "reduction"], given);
    super(options, 0);
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
    const options = namedArguments<TripletMarginLossOptions>(
      ["margin", "p", "eps", "swap", "reduction"],
      given,
    );
    super(options, 1);
    if (this.margin <= 0) {
      const told = `margin must be greater than 0, got ${this.margin}.`;
      fail("InvalidArgument", "TripletMarginLoss", told);
    }
    this.p = options.p ?? 2;
    this.eps = options.eps ?? 1e-6;
    this.swap = options.swap ?? false;
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
    const options = namedArguments<MultiMarginLossOptions>(
      ["p", "margin", "weight", "reduction"],
      given,
    );
    super(options, 1);
    this.p = options.p ?? 1;
    this.weight = options.weight ?? null;
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
    const options = namedArguments<MultiLabelSoftMarginLossOptions>(["weight", "reduction"], given);
    super(options);
    this.weight = options.weight ?? null;
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
