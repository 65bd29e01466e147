// Losses of pairs and of counts, made of elementwise ops.

import { add, clamp, exp, log, log1p, mean, mul, neg, sub, sum, where } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { Loss, type LossOptions, type Reduction } from "./losses.js";

/** Options of `MarginRankingLoss` and `HingeEmbeddingLoss`. */
export interface MarginLossOptions extends LossOptions {
  /** How far apart is far enough; default 0, for `HingeEmbeddingLoss` 1. */
  margin?: number;
}

/** Options of `PoissonNLLLoss`. */
export interface PoissonNLLLossOptions extends LossOptions {
  /** The input is the logarithm of the rate; default true. */
  logInput?: boolean;
  /** Added to the rate in its logarithm; default 1e-8. */
  eps?: number;
}

/** How far `input1` is from being above (target 1) or below (target -1) `input2`. */
export class MarginRankingLoss extends Loss {
  readonly margin: number;

  constructor(options: MarginLossOptions = {}) {
    super(options);
    this.margin = options.margin ?? 0;
  }

  override forward(input1: Tensor, input2: Tensor, target: Tensor): Tensor {
    const each = add(mul(neg(target), sub(input1, input2)), this.margin);
    return reduced(clamp(each, { min: 0 }), this.reduction);
  }
}

/** A distance itself (target 1), or how much it lacks to the margin (target -1). */
export class HingeEmbeddingLoss extends Loss {
  readonly margin: number;

  constructor(options: MarginLossOptions = {}) {
    super(options);
    this.margin = options.margin ?? 1;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const lacking = clamp(sub(this.margin, input), { min: 0 });
    // PyTorch's sum of two terms, so that a target of neither kind counts for both.
    const near = where(target.ne(-1), input, 0);
    return reduced(add(near, where(target.ne(1), lacking, 0)), this.reduction);
  }
}

/** log(1 + exp(-target * input)), the logistic loss of targets 1 and -1. */
export class SoftMarginLoss extends Loss {
  constructor(options: LossOptions = {}) {
    super(options);
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return reduced(log1p(exp(mul(neg(target), input))), this.reduction);
  }
}

/** Negative log likelihood of counts under Poisson distributions, less the part without the input. */
export class PoissonNLLLoss extends Loss {
  readonly logInput: boolean;
  readonly eps: number;

  constructor(options: PoissonNLLLossOptions = {}) {
    super(options);
    this.logInput = options.logInput ?? true;
    this.eps = options.eps ?? 1e-8;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const each = this.logInput
      ? sub(exp(input), mul(target, input))
      : sub(input, mul(target, log(add(input, this.eps))));
    return reduced(each, this.reduction);
  }
}

function reduced(each: Tensor, reduction: Reduction): Tensor {
  if (reduction === "none") return each;
  return reduction === "sum" ? sum(each) : mean(each);
}
