// Negative log likelihoods of numbers as modules.

import { gaussianNllLoss, poissonNllLoss } from "../generated/ops.js";
import { type Arguments, namedArguments } from "../runtime/named_arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { Loss, type LossOptions, type Reduction } from "./losses.js";

/** Options of `PoissonNLLLoss`. */
export interface PoissonNLLLossOptions extends LossOptions {
  /** The input is the logarithm of the rate; default true. */
  logInput?: boolean;
  /** Add an approximation of the part that does not depend on the input; default false. */
  full?: boolean;
  /** Added to the rate in its logarithm; default 1e-8. */
  eps?: number;
}

/** Options of `GaussianNLLLoss`. */
export interface GaussianNLLLossOptions extends LossOptions {
  /** Add the part that does not depend on the input; default false. */
  full?: boolean;
  /** The least variance; default 1e-6. */
  eps?: number;
}

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
    const options = namedArguments<PoissonNLLLossOptions>(
      ["logInput", "full", "eps", "reduction"],
      given,
    );
    super(options);
    this.logInput = options.logInput ?? true;
    this.full = options.full ?? false;
    this.eps = options.eps ?? 1e-8;
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
    const options = namedArguments<GaussianNLLLossOptions>(["full", "eps", "reduction"], given);
    super(options);
    this.full = options.full ?? false;
    this.eps = options.eps ?? 1e-6;
  }

  override forward(input: Tensor, target: Tensor, variance: Tensor | number): Tensor {
    const { full, eps, reduction } = this;
    return gaussianNllLoss(input, target, variance, { full, eps, reduction });
  }
}
