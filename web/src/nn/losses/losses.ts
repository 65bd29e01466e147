// Loss functions as modules.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, number, type Options, oneOf } from "../../arguments/rule.js";
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
} from "../../generated/ops.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";

const kReduction = oneOf("none", "mean", "sum");

/** How the losses of the elements are combined. */
export type Reduction = typeof kReduction.type;

/** What all losses take. */
export const kLossArguments = {
  /** How the losses of the elements are combined; default "mean". */
  reduction: kReduction.or("mean"),
};

const kWeight = {
  /** A weight per class. */
  weight: tensorRule.orNull(),
};

const kElementWeight = {
  /** A weight per element. */
  weight: tensorRule.orNull(),
};

const kIgnoreIndex = {
  /** Targets with this value do not count; default -100. */
  ignoreIndex: integer.or(-100),
};

const kNLLLossArguments = { ...kWeight, ...kIgnoreIndex, ...kLossArguments };

const kCrossEntropyLossArguments = {
  ...kNLLLossArguments,
  /** The share of the target spread evenly over all classes; default 0. */
  labelSmoothing: number.or(0),
};

const kSmoothL1LossArguments = {
  ...kLossArguments,
  /** The difference below which the loss is squared; default 1. */
  beta: number.or(1),
};

const kHuberLossArguments = {
  ...kLossArguments,
  /** The difference below which the loss is squared; default 1. */
  delta: number.or(1),
};

const kKLDivLossArguments = {
  /** "batchmean", the sum over the size of the batch, is the divergence itself; default "mean". */
  reduction: oneOf("none", "mean", "sum", "batchmean").or("mean"),
  /** The target is of log probabilities; default false. */
  logTarget: boolean.or(false),
};

const kBCELossArguments = { ...kElementWeight, ...kLossArguments };

const kBCEWithLogitsLossArguments = {
  ...kBCELossArguments,
  /** A weight of positive targets. */
  posWeight: tensorRule.orNull(),
};

/** Options of all losses. */
export type LossOptions = Options<typeof kLossArguments>;

/** Options of `NLLLoss`. */
export type NLLLossOptions = Options<typeof kNLLLossArguments>;

/** Options of `CrossEntropyLoss`. */
export type CrossEntropyLossOptions = Options<typeof kCrossEntropyLossArguments>;

/** Options of `SmoothL1Loss`. */
export type SmoothL1LossOptions = Options<typeof kSmoothL1LossArguments>;

/** Options of `HuberLoss`. */
export type HuberLossOptions = Options<typeof kHuberLossArguments>;

/** Options of `BCELoss`. */
export type BCELossOptions = Options<typeof kBCELossArguments>;

/** Options of `KLDivLoss`. */
export type KLDivLossOptions = Options<typeof kKLDivLossArguments>;

/** Options of `BCEWithLogitsLoss`. */
export type BCEWithLogitsLossOptions = Options<typeof kBCEWithLogitsLossArguments>;

/** What the losses share: how those of the elements are combined. */
export abstract class Loss extends Module {
  readonly reduction: Reduction;

  constructor(...given: Arguments<[reduction: Reduction], LossOptions>) {
    super();
    this.reduction = readArguments(new.target.name, kLossArguments, given).reduction;
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
    const options = readArguments(new.target.name, kCrossEntropyLossArguments, given);
    super({ reduction: options.reduction });
    this.weight = options.weight;
    this.ignoreIndex = options.ignoreIndex;
    this.labelSmoothing = options.labelSmoothing;
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
    const options = readArguments(new.target.name, kNLLLossArguments, given);
    super({ reduction: options.reduction });
    this.weight = options.weight;
    this.ignoreIndex = options.ignoreIndex;
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
    const options = readArguments(new.target.name, kSmoothL1LossArguments, given);
    super({ reduction: options.reduction });
    this.beta = options.beta;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return smoothL1Loss(input, target, { reduction: this.reduction, beta: this.beta });
  }
}

/** Half the squared difference, continued in a straight line. */
export class HuberLoss extends Loss {
  readonly delta: number;

  constructor(...given: Arguments<[reduction: Reduction, delta: number], HuberLossOptions>) {
    const options = readArguments(new.target.name, kHuberLossArguments, given);
    super({ reduction: options.reduction });
    this.delta = options.delta;
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
    const options = readArguments(new.target.name, kKLDivLossArguments, given);
    super();
    this.reduction = options.reduction;
    this.logTarget = options.logTarget;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    return klDiv(input, target, { reduction: this.reduction, logTarget: this.logTarget });
  }
}

/** Binary cross entropy between probabilities. */
export class BCELoss extends Loss {
  readonly weight: Tensor | null;

  constructor(...given: Arguments<[weight: Tensor | null, reduction: Reduction], BCELossOptions>) {
    const options = readArguments(new.target.name, kBCELossArguments, given);
    super({ reduction: options.reduction });
    this.weight = options.weight;
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
    const options = readArguments(new.target.name, kBCEWithLogitsLossArguments, given);
    super({ reduction: options.reduction });
    this.weight = options.weight;
    this.posWeight = options.posWeight;
  }

  override forward(input: Tensor, target: Tensor): Tensor {
    const { weight, posWeight, reduction } = this;
    return binaryCrossEntropyWithLogits(input, target, { weight, posWeight, reduction });
  }
}
