// Loss functions as modules.

import {
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits,
  crossEntropy,
  huberLoss,
  klDiv,
  l1Loss,
  mseLoss,
  nllLoss,
  smoothL1Loss,
} from "../generated/ops.js";
import { type Arguments, namedArguments } from "../runtime/named_arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { Module } from "./module.js";

/** How the losses of the elements are combined. */
export type Reduction = "none" | "mean" | "sum";

/** Options of all losses. */
export interface LossOptions {
  reduction?: Reduction;
}

/** Options of `NLLLoss`. */
export interface NLLLossOptions extends LossOptions {
  /** A weight per class. */
  weight?: Tensor | null;
  /** Targets with this value do not count; default -100. */
  ignoreIndex?: number;
}

/** Options of `CrossEntropyLoss`. */
export interface CrossEntropyLossOptions extends NLLLossOptions {
  /** The share of the target spread evenly over all classes; default 0. */
  labelSmoothing?: number;
}

/** Options of `SmoothL1Loss`. */
export interface SmoothL1LossOptions extends LossOptions {
  /** The difference below which the loss is squared; default 1. */
  beta?: number;
}

/** Options of `HuberLoss`. */
export interface HuberLossOptions extends LossOptions {
  /** The difference below which the loss is squared; default 1. */
  delta?: number;
}

/** Options of `BCELoss`. */
export interface BCELossOptions extends LossOptions {
  /** A weight per element. */
  weight?: Tensor | null;
}

/** Options of `KLDivLoss`. */
export interface KLDivLossOptions {
  /** "batchmean", the sum over the size of the batch, is the divergence itself; default "mean". */
  reduction?: Reduction | "batchmean";
  /** The target is of log probabilities; default false. */
  logTarget?: boolean;
}

/** Options of `BCEWithLogitsLoss`. */
export interface BCEWithLogitsLossOptions extends LossOptions {
  /** A weight per element. */
  weight?: Tensor | null;
  /** A weight of positive targets. */
  posWeight?: Tensor | null;
}

/** What the losses share: how those of the elements are combined. */
export abstract class Loss extends Module {
  readonly reduction: Reduction;

  constructor(...given: Arguments<[reduction: Reduction], LossOptions>) {
    super();
    this.reduction = namedArguments<LossOptions>(["reduction"], given).reduction ?? "mean";
  }
}

/** Cross entropy between unnormalised log probabilities and class numbers. */
export class CrossEntropyLoss extends Loss {
  readonly weight: Tensor | null;
  readonly ignoreIndex: number;
  readonly labelSmoothing: number;

  constructor(
    ...given: Arguments<
      [weight: Tensor | null, ignoreIndex: number, reduction: Reduction, labelSmoothing: number],
      CrossEntropyLossOptions
    >
  ) {
    const options = namedArguments<CrossEntropyLossOptions>(
      ["weight", "ignoreIndex", "reduction", "labelSmoothing"],
      given,
    );
    super(options);
    this.weight = options.weight ?? null;
    this.ignoreIndex = options.ignoreIndex ?? -100;
    this.labelSmoothing = options.labelSmoothing ?? 0;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, ignoreIndex, reduction, labelSmoothing } = this;
    return crossEntropy(input, target, { weight, ignoreIndex, reduction, labelSmoothing });
  }
}

/** Negative log likelihood of class numbers under log probabilities. */
export class NLLLoss extends Loss {
  readonly weight: Tensor | null;
  readonly ignoreIndex: number;

  constructor(
    ...given: Arguments<
      [weight: Tensor | null, ignoreIndex: number, reduction: Reduction],
      NLLLossOptions
    >
  ) {
    const options = namedArguments<NLLLossOptions>(["weight", "ignoreIndex", "reduction"], given);
    super(options);
    this.weight = options.weight ?? null;
    this.ignoreIndex = options.ignoreIndex ?? -100;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, ignoreIndex, reduction } = this;
    return nllLoss(input, target, { weight, ignoreIndex, reduction });
  }
}

/** The squared difference. */
export class MSELoss extends Loss {
  override forward(input: Tensor, target: Tensor): Tensor {
    return mseLoss(input, target, { reduction: this.reduction });
  }
}

/** The absolute difference. */
export class L1Loss extends Loss {
  override forward(input: Tensor, target: Tensor): Tensor {
    return l1Loss(input, target, { reduction: this.reduction });
  }
}

/** The absolute difference, squared and scaled near zero. */
export class SmoothL1Loss extends Loss {
  readonly beta: number;

  constructor(...given: Arguments<[reduction: Reduction, beta: number], SmoothL1LossOptions>) {
    const options = namedArguments<SmoothL1LossOptions>(["reduction", "beta"], given);
    super(options);
    this.beta = options.beta ?? 1;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return smoothL1Loss(input, target, { reduction: this.reduction, beta: this.beta });
  }
}

/** Half the squared difference, continued in a straight line. */
export class HuberLoss extends Loss {
  readonly delta: number;

  constructor(...given: Arguments<[reduction: Reduction, delta: number], HuberLossOptions>) {
    const options = namedArguments<HuberLossOptions>(["reduction", "delta"], given);
    super(options);
    this.delta = options.delta ?? 1;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return huberLoss(input, target, { reduction: this.reduction, delta: this.delta });
  }
}

/** The divergence of target probabilities from log probabilities. */
export class KLDivLoss extends Module {
  readonly reduction: Reduction | "batchmean";
  readonly logTarget: boolean;

  constructor(
    ...given: Arguments<[reduction: Reduction | "batchmean", logTarget: boolean], KLDivLossOptions>
  ) {
    const options = namedArguments<KLDivLossOptions>(["reduction", "logTarget"], given);
    super();
    this.reduction = options.reduction ?? "mean";
    this.logTarget = options.logTarget ?? false;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return klDiv(input, target, { reduction: this.reduction, logTarget: this.logTarget });
  }
}

/** Binary cross entropy between probabilities. */
export class BCELoss extends Loss {
  readonly weight: Tensor | null;

  constructor(...given: Arguments<[weight: Tensor | null, reduction: Reduction], BCELossOptions>) {
    const options = namedArguments<BCELossOptions>(["weight", "reduction"], given);
    super(options);
    this.weight = options.weight ?? null;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return binaryCrossEntropy(input, target, { weight: this.weight, reduction: this.reduction });
  }
}

/** Binary cross entropy between logits and probabilities. */
export class BCEWithLogitsLoss extends Loss {
  readonly weight: Tensor | null;
  readonly posWeight: Tensor | null;

  constructor(
    ...given: Arguments<
      [weight: Tensor | null, reduction: Reduction, posWeight: Tensor | null],
      BCEWithLogitsLossOptions
    >
  ) {
    const options = namedArguments<BCEWithLogitsLossOptions>(
      ["weight", "reduction", "posWeight"],
      given,
    );
    super(options);
    this.weight = options.weight ?? null;
    this.posWeight = options.posWeight ?? null;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, posWeight, reduction } = this;
    return binaryCrossEntropyWithLogits(input, target, { weight, posWeight, reduction });
  }
}
