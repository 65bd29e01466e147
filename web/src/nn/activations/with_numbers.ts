// Activations with numbers or choices.

import type { Arguments } from "../../arguments/read.js";
import { integer, number, type Options, oneOf, type Values } from "../../arguments/rule.js";
import {
  celu,
  celu_,
  copy_,
  elu,
  elu_,
  gelu,
  glu,
  hardshrink,
  hardtanh,
  hardtanh_,
  leakyRelu,
  leakyRelu_,
  rrelu,
  softplus,
  softshrink,
  threshold,
  threshold_,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared, type Fields, type Layer, layer, layerOfOne } from "../layer.js";
import { formatArguments, formatFloat } from "../module_text.js";
import { activation, type InPlaceOptions, kInPlaceArguments } from "./in_place.js";

const kLeakyReLU = {
  /** The factor of negative elements; default 0.01. */
  negativeSlope: number.or(0.01),
};

/** Options of `LeakyReLU`. */
export type LeakyReLUOptions = Options<typeof kLeakyReLU & typeof kInPlaceArguments>;

/** x, times `negativeSlope` where it is negative. */
export class LeakyReLU extends activation(
  kLeakyReLU,
  ["negativeSlope"] as [negativeSlope: "negativeSlope"],
  leakyRelu,
  leakyRelu_,
) {}

const kELU = {
  /** Very negative elements approach -alpha; default 1. */
  alpha: number.or(1),
};

/** Options of `ELU` and `CELU`. */
export type ELUOptions = Options<typeof kELU & typeof kInPlaceArguments>;

/** The arguments of `ELU` and `CELU`. */
export type ELUArguments = Arguments<[alpha: number, inplace: boolean], ELUOptions>;

/** x, or alpha * (exp(x) - 1) where x is negative. */
export class ELU extends activation(kELU, ["alpha"] as [alpha: "alpha"], elu, elu_) {}

/** x, or alpha * (exp(x / alpha) - 1) where x is negative. */
export class CELU extends activation(kELU, ["alpha"] as [alpha: "alpha"], celu, celu_) {}

const kHardtanh = {
  /** The smallest result; default -1. */
  minVal: number.or(-1),
  /** The largest result; default 1. */
  maxVal: number.or(1),
};

/** Options of `Hardtanh`. */
export type HardtanhOptions = Options<typeof kHardtanh & typeof kInPlaceArguments>;

/** x, limited to [minVal, maxVal]. */
export class Hardtanh extends activation(
  kHardtanh,
  ["minVal", "maxVal"] as [minVal: "minVal", maxVal: "maxVal"],
  hardtanh,
  hardtanh_,
  checkLimits,
) {}

function checkLimits({ minVal, maxVal }: Values<typeof kHardtanh>): string | undefined {
  if (maxVal > minVal) return undefined;
  return `maxVal must be above minVal, got minVal ${minVal} and maxVal ${maxVal}.`;
}

const kThreshold = {
  /** Elements above it are kept. */
  threshold: number,
  /** Replaces the other elements. */
  value: number,
  ...kInPlaceArguments,
};

/** x where it is above `threshold`, else `value`. */
export class Threshold extends declared<
  ClassWith<
    [thresholdValue: number, value: number],
    [inplace: boolean],
    InPlaceOptions,
    typeof kThreshold
  >,
  typeof kThreshold
>(kThreshold) {
  override forward(input: Tensor): Tensor {
    return (this.inplace ? threshold_ : threshold)(input, this.threshold, this.value);
  }

  override extraRepr(): string {
    const { threshold, value, inplace } = this;
    return formatArguments([], { threshold, value, inplace: inplace || undefined });
  }
}

const kRReLU = {
  /** The smallest factor of negative elements; default 1/8. */
  lower: number.or(1 / 8),
  /** The largest factor of negative elements; default 1/3. */
  upper: number.or(1 / 3),
};

/** Options of `RReLU`. */
export type RReLUOptions = Options<typeof kRReLU & typeof kInPlaceArguments>;

/** x, times a random factor where it is negative; in evaluation the factor is the mean of both bounds. */
export class RReLU extends activation(
  kRReLU,
  ["lower", "upper"] as [lower: "lower", upper: "upper"],
  rrelu,
  rrelu,
  checkFactors,
) {
  /** Draws the factors in training. */
  override forward(input: Tensor): Tensor {
    const result = rrelu(input, this.lower, this.upper, this.training);
    return this.inplace ? copy_(input, result) : result;
  }
}

function checkFactors({ lower, upper }: Values<typeof kRReLU>): string | undefined {
  return lower > upper ? `lower must be at most upper, got ${lower} and ${upper}.` : undefined;
}

const kSoftplus = {
  /** How sharp the bend is; default 1. */
  beta: number.or(1),
  /** Where x * beta is above it the result is x; default 20. */
  threshold: number.or(20),
};

/** Options of `Softplus`. */
export type SoftplusOptions = Options<typeof kSoftplus>;

/** log(1 + exp(beta * x)) / beta. */
export class Softplus extends layer(
  kSoftplus,
  ["beta", "threshold"] as [beta: "beta", threshold: "threshold"],
  softplus,
) {
  override extraRepr(): string {
    const [beta, threshold] = [this.beta, this.threshold].map(formatFloat);
    return formatArguments([], { beta, threshold });
  }
}

const kShrink = {
  /** The half width of the range around 0 that becomes 0; default 0.5. */
  lambd: number.or(0.5),
};

/** Options of `Hardshrink` and `Softshrink`. */
export type ShrinkOptions = Options<typeof kShrink>;

function shrink(
  op: (input: Tensor, lambd: number) => Tensor,
): new (
  ...given: [lambd?: number | ShrinkOptions]
) => Layer & Fields<typeof kShrink> {
  return class extends layerOfOne<[lambd?: number | ShrinkOptions], typeof kShrink>(kShrink, op) {
    override extraRepr(): string {
      return formatFloat(this.lambd);
    }
  };
}

/** x, or 0 within [-lambd, lambd]. */
export class Hardshrink extends shrink(hardshrink) {}

/** x moved by `lambd` towards 0, stopping there. */
export class Softshrink extends shrink(softshrink) {}

const kGELU = {
  /** "tanh" computes the usual approximation; default "none". */
  approximate: oneOf("none", "tanh").or("none"),
};

/** Options of `GELU`. */
export type GELUOptions = Options<typeof kGELU>;

/** x times the probability that a standard normal variable is below x. */
export class GELU extends layerOfOne<[approximate?: "none" | "tanh" | GELUOptions], typeof kGELU>(
  kGELU,
  gelu,
) {
  override extraRepr(): string {
    return `approximate='${this.approximate}'`;
  }
}

const kGLU = {
  /** The dimension that is halved; default -1. */
  dim: integer.or(-1),
};

/** Options of `GLU`. */
export type GLUOptions = Options<typeof kGLU>;

/** The first half of a dimension times sigmoid of the second half. */
export class GLU extends layerOfOne<[dim?: number | GLUOptions], typeof kGLU>(kGLU, glu) {}
