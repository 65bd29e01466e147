// Losses of numbers, probabilities and classes.

import { boolean, integer, number, oneOf } from "../../arguments/rule.js";
import {
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits,
  crossEntropy,
  gaussianNllLoss,
  huberLoss,
  klDiv,
  l1Loss,
  mseLoss,
  nllLoss,
  poissonNllLoss,
  smoothL1Loss,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { bufferRule } from "../layer.js";
import { type LossOptionsOf, lossFields, lossLayer } from "./loss_layer.js";

/** The squared difference. */
export class MSELoss extends lossLayer({}, ["reduction"] as [reduction: "reduction"], mseLoss) {}

/** The absolute difference. */
export class L1Loss extends lossLayer({}, ["reduction"] as [reduction: "reduction"], l1Loss) {}

const kSmoothL1 = {
  /** The difference below which the loss is squared; default 1. */
  beta: number.or(1),
};

/** Options of `SmoothL1Loss`. */
export type SmoothL1LossOptions = LossOptionsOf<typeof kSmoothL1>;

/** The absolute difference, and quadratic below `beta`. */
export class SmoothL1Loss extends lossLayer(
  kSmoothL1,
  ["reduction", "beta"] as [reduction: "reduction", beta: "beta"],
  smoothL1Loss,
) {}

const kHuber = {
  /** The difference below which the loss is squared; default 1. */
  delta: number.or(1),
};

/** Options of `HuberLoss`. */
export type HuberLossOptions = LossOptionsOf<typeof kHuber>;

/** Half the squared difference, and linear beyond `delta`. */
export class HuberLoss extends lossLayer(
  kHuber,
  ["reduction", "delta"] as [reduction: "reduction", delta: "delta"],
  huberLoss,
) {}

const kNLL = {
  /** A weight per class. */
  weight: bufferRule,
  /** Targets with this value are ignored; default -100. */
  ignoreIndex: integer.or(-100),
};

/** Options of `NLLLoss`. */
export type NLLLossOptions = LossOptionsOf<typeof kNLL>;

/** Negative log likelihood of class numbers under log probabilities. */
export class NLLLoss extends lossLayer(
  kNLL,
  ["weight", "ignoreIndex", "reduction"] as [
    weight: "weight",
    ignoreIndex: "ignoreIndex",
    reduction: "reduction",
  ],
  nllLoss,
) {}

const kCrossEntropy = {
  ...kNLL,
  /** The share of each target that is spread evenly over all classes; default 0. */
  labelSmoothing: number.or(0),
};

/** Options of `CrossEntropyLoss`. */
export type CrossEntropyLossOptions = LossOptionsOf<typeof kCrossEntropy>;

/** Cross entropy between unnormalized log probabilities and class numbers. */
export class CrossEntropyLoss extends lossLayer(
  kCrossEntropy,
  ["weight", "ignoreIndex", "reduction", "labelSmoothing"] as [
    weight: "weight",
    ignoreIndex: "ignoreIndex",
    reduction: "reduction",
    labelSmoothing: "labelSmoothing",
  ],
  crossEntropy,
) {}

const kKLDiv = {
  /** "batchmean", the sum divided by the batch size, is the divergence itself; default "mean". */
  reduction: oneOf("none", "mean", "sum", "batchmean").or("mean"),
  /** The target contains log probabilities; default false. */
  logTarget: boolean.or(false),
};

/** Options of `KLDivLoss`. */
export type KLDivLossOptions = LossOptionsOf<typeof kKLDiv>;

/** The Kullback-Leibler divergence of target probabilities from log probabilities. */
export class KLDivLoss extends lossLayer(
  kKLDiv,
  ["reduction", "logTarget"] as [reduction: "reduction", logTarget: "logTarget"],
  klDiv,
) {}

const kBCE = {
  /** A weight per element. */
  weight: bufferRule,
};

/** Options of `BCELoss`. */
export type BCELossOptions = LossOptionsOf<typeof kBCE>;

/** Binary cross entropy between probabilities. */
export class BCELoss extends lossLayer(
  kBCE,
  ["weight", "reduction"] as [weight: "weight", reduction: "reduction"],
  binaryCrossEntropy,
) {}

const kBCEWithLogits = {
  ...kBCE,
  /** A weight of positive targets. */
  posWeight: bufferRule,
};

/** Options of `BCEWithLogitsLoss`. */
export type BCEWithLogitsLossOptions = LossOptionsOf<typeof kBCEWithLogits>;

/** Binary cross entropy between logits and probabilities. */
export class BCEWithLogitsLoss extends lossLayer(
  kBCEWithLogits,
  ["weight", "reduction", "posWeight"] as [
    weight: "weight",
    reduction: "reduction",
    posWeight: "posWeight",
  ],
  binaryCrossEntropyWithLogits,
) {}

const kPoissonNLL = {
  /** The input is the logarithm of the rate; default true. */
  logInput: boolean.or(true),
  /** Add an approximation of the part that does not depend on the input; default false. */
  full: boolean.or(false),
  /** Added to the rate before its logarithm is taken; default 1e-8. */
  eps: number.or(1e-8),
};

/** Options of `PoissonNLLLoss`. */
export type PoissonNLLLossOptions = LossOptionsOf<typeof kPoissonNLL>;

/** Negative log likelihood of counts under Poisson distributions. */
export class PoissonNLLLoss extends lossLayer(
  kPoissonNLL,
  ["logInput", "full", "eps", "reduction"] as [
    logInput: "logInput",
    full: "full",
    eps: "eps",
    reduction: "reduction",
  ],
  poissonNllLoss,
) {}

const kGaussianNLL = {
  /** Add the part that does not depend on the input; default false. */
  full: boolean.or(false),
  /** The least variance; default 1e-6. */
  eps: number.or(1e-6),
};

/** Options of `GaussianNLLLoss`. */
export type GaussianNLLLossOptions = LossOptionsOf<typeof kGaussianNLL>;

/** Negative log likelihood of numbers under normal distributions of given variances. */
export class GaussianNLLLoss extends lossFields(kGaussianNLL, ["full", "eps", "reduction"] as [
  full: "full",
  eps: "eps",
  reduction: "reduction",
]) {
  override forward(input: Tensor, target: Tensor, variance: Tensor | number): Tensor {
    const { full, eps, reduction } = this;
    return gaussianNllLoss(input, target, variance, { full, eps, reduction });
  }
}
