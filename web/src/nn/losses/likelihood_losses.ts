// Negative log likelihoods of numbers as modules.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
import { gaussianNllLoss, poissonNllLoss } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLossArguments, Loss, type Reduction } from "./losses.js";

const kPoissonNLLArguments = {
  /** The input is the logarithm of the rate; default true. */
  logInput: boolean.or(true),
  /** Add an approximation of the part that does not depend on the input; default false. */
  full: boolean.or(false),
  /** Added to the rate in its logarithm; default 1e-8. */
  eps: number.or(1e-8),
  ...kLossArguments,
};

const kGaussianNLLArguments = {
  /** Add the part that does not depend on the input; default false. */
  full: boolean.or(false),
  /** The least variance; default 1e-6. */
  eps: number.or(1e-6),
  ...kLossArguments,
};

/** Options of `PoissonNLLLoss`. */
export type PoissonNLLLossOptions = Options<typeof kPoissonNLLArguments>;

/** Options of `GaussianNLLLoss`. */
export type GaussianNLLLossOptions = Options<typeof kGaussianNLLArguments>;

/** Negative log likelihood of counts under Poisson distributions. */
export class PoissonNLLLoss extends Loss {
  readonly logInput: boolean;
  readonly full: boolean;
  readonly eps: number;

  constructor(
    ...given: Arguments<
      [logInput: boolean, full: boolean, eps: number, reduction: Reduction],
      PoissonNLLLossOptions
    >
  ) {
    const options = readArguments(new.target.name, kPoissonNLLArguments, given);
    super({ reduction: options.reduction });
    this.logInput = options.logInput;
    this.full = options.full;
    this.eps = options.eps;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { logInput, full, eps, reduction } = this;
    return poissonNllLoss(input, target, { logInput, full, eps, reduction });
  }
}

/** Negative log likelihood of numbers under normal distributions of given variances. */
export class GaussianNLLLoss extends Loss {
  readonly full: boolean;
  readonly eps: number;

  constructor(
    ...given: Arguments<[full: boolean, eps: number, reduction: Reduction], GaussianNLLLossOptions>
  ) {
    const options = readArguments(new.target.name, kGaussianNLLArguments, given);
    super({ reduction: options.reduction });
    this.full = options.full;
    this.eps = options.eps;
  }

  override forward(input: Tensor, target: Tensor, variance: Tensor | number): Tensor {
    const { full, eps, reduction } = this;
    return gaussianNllLoss(input, target, variance, { full, eps, reduction });
  }
}
