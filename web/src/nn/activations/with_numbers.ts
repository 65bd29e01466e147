// Activations with numbers of their own.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { number, type Options } from "../../arguments/rule.js";
import {
  celu,
  celu_,
  elu,
  elu_,
  hardshrink,
  hardtanh,
  hardtanh_,
  leakyRelu,
  leakyRelu_,
  softplus,
  softshrink,
  threshold,
  threshold_,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments, formatFloat } from "../module_text.js";
import { InPlaceActivation, kInPlaceArguments } from "./in_place.js";

const kLeakyReLUArguments = {
  /** The factor of negative elements; default 0.01. */
  negativeSlope: number.or(0.01),
  ...kInPlaceArguments,
};

/** Options of `LeakyReLU`. */
export type LeakyReLUOptions = Options<typeof kLeakyReLUArguments>;

/** x, times `negativeSlope` where it is negative. */
export class LeakyReLU extends InPlaceActivation {
  readonly negativeSlope: number;

  constructor(...given: Arguments<[negativeSlope: number, inplace: boolean], LeakyReLUOptions>) {
    const own = readArguments(new.target.name, kLeakyReLUArguments, given);
    super(own.inplace);
    this.negativeSlope = own.negativeSlope;
  }

  protected override compute(input: Tensor): Tensor {
    return leakyRelu(input, this.negativeSlope);
  }

  protected override compute_(input: Tensor): Tensor {
    return leakyRelu_(input, this.negativeSlope);
  }

  protected override ownRepr(): string[] {
    return [`negative_slope=${formatFloat(this.negativeSlope)}`];
  }
}

const kELUArguments = {
  /** What negative elements tend to, with a minus; default 1. */
  alpha: number.or(1),
  ...kInPlaceArguments,
};

/** Options of `ELU` and `CELU`. */
export type ELUOptions = Options<typeof kELUArguments>;

/** The arguments of `ELU` and `CELU`. */
export type ELUArguments = Arguments<[alpha: number, inplace: boolean], ELUOptions>;

abstract class ExponentialUnit extends InPlaceActivation {
  readonly alpha: number;

  constructor(...given: ELUArguments) {
    const { alpha, inplace } = readArguments(new.target.name, kELUArguments, given);
    super(inplace);
    this.alpha = alpha;
  }

  protected override ownRepr(): string[] {
    return [`alpha=${formatFloat(this.alpha)}`];
  }
}

/** x, or alpha * (exp(x) - 1) where x is negative. */
export class ELU extends ExponentialUnit {
  protected override compute(input: Tensor): Tensor {
    return elu(input, this.alpha);
  }

  protected override compute_(input: Tensor): Tensor {
    return elu_(input, this.alpha);
  }
}

/** x, or alpha * (exp(x / alpha) - 1) where x is negative. */
export class CELU extends ExponentialUnit {
  protected override compute(input: Tensor): Tensor {
    return celu(input, this.alpha);
  }

  protected override compute_(input: Tensor): Tensor {
    return celu_(input, this.alpha);
  }
}

const kHardtanhArguments = {
  /** The least result; default -1. */
  minVal: number.or(-1),
  /** The largest result; default 1. */
  maxVal: number.or(1),
  ...kInPlaceArguments,
};

/** Options of `Hardtanh`. */
export type HardtanhOptions = Options<typeof kHardtanhArguments>;

/** x, limited to [minVal, maxVal]. */
export class Hardtanh extends InPlaceActivation {
  readonly minVal: number;
  readonly maxVal: number;

  constructor(
    ...given: Arguments<[minVal: number, maxVal: number, inplace: boolean], HardtanhOptions>
  ) {
    const { minVal, maxVal, inplace } = readArguments(new.target.name, kHardtanhArguments, given);
    super(inplace);
    if (!(maxVal > minVal)) {
      const told = `max_val must be larger than min_val, got minVal ${minVal} and maxVal ${maxVal}.`;
      fail("InvalidArgument", new.target.name, told);
    }
    this.minVal = minVal;
    this.maxVal = maxVal;
  }

  protected override compute(input: Tensor): Tensor {
    return hardtanh(input, this.minVal, this.maxVal);
  }

  protected override compute_(input: Tensor): Tensor {
    return hardtanh_(input, this.minVal, this.maxVal);
  }

  protected override ownRepr(): string[] {
    return [`min_val=${formatFloat(this.minVal)}`, `max_val=${formatFloat(this.maxVal)}`];
  }
}

const kThresholdOptions = { ...kInPlaceArguments };

const kThresholdArguments = { threshold: number, value: number, ...kThresholdOptions };

/** x where it is above `threshold`, else `value`. */
export class Threshold extends InPlaceActivation {
  readonly threshold: number;
  readonly value: number;

  constructor(
    thresholdValue: number,
    value: number,
    ...rest: Arguments<[inplace: boolean], Options<typeof kThresholdOptions>>
  ) {
    const given = [thresholdValue, value, ...rest];
    const own = readArguments(new.target.name, kThresholdArguments, given);
    super(own.inplace);
    this.threshold = own.threshold;
    this.value = own.value;
  }

  protected override compute(input: Tensor): Tensor {
    return threshold(input, this.threshold, this.value);
  }

  protected override compute_(input: Tensor): Tensor {
    return threshold_(input, this.threshold, this.value);
  }

  protected override ownRepr(): string[] {
    return [`threshold=${this.threshold}`, `value=${this.value}`];
  }
}

const kSoftplusArguments = {
  /** How sharp the bend is; default 1. */
  beta: number.or(1),
  /** Where x * beta is above it the result is x; default 20. */
  threshold: number.or(20),
};

/** Options of `Softplus`. */
export type SoftplusOptions = Options<typeof kSoftplusArguments>;

/** log(1 + exp(beta * x)) / beta. */
export class Softplus extends Module {
  readonly beta: number;
  readonly threshold: number;

  constructor(...given: Arguments<[beta: number, threshold: number], SoftplusOptions>) {
    super();
    const own = readArguments(new.target.name, kSoftplusArguments, given);
    this.beta = own.beta;
    this.threshold = own.threshold;
  }

  override forward(input: Tensor): Tensor {
    return softplus(input, this.beta, this.threshold);
  }

  override extraRepr(): string {
    return formatArguments([], {
      beta: formatFloat(this.beta),
      threshold: formatFloat(this.threshold),
    });
  }
}

const kShrinkArguments = {
  /** What is shrunk to 0, on both sides; default 0.5. */
  lambd: number.or(0.5),
};

/** Options of `Hardshrink` and `Softshrink`. */
export type ShrinkOptions = Options<typeof kShrinkArguments>;

abstract class Shrink extends Module {
  readonly lambd: number;

  constructor(...given: [lambd?: number | ShrinkOptions]) {
    super();
    this.lambd = readArguments(new.target.name, kShrinkArguments, given).lambd;
  }

  override extraRepr(): string {
    return formatFloat(this.lambd);
  }
}

/** x, or 0 within [-lambd, lambd]. */
export class Hardshrink extends Shrink {
  override forward(input: Tensor): Tensor {
    return hardshrink(input, this.lambd);
  }
}

/** x moved by `lambd` towards 0, which it does not pass. */
export class Softshrink extends Shrink {
  override forward(input: Tensor): Tensor {
    return softshrink(input, this.lambd);
  }
}
