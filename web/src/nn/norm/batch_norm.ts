import { readArguments } from "../../arguments/read.js";
import { boolean, count, number, type Options, size } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { add_, batchNorm, groupNorm, instanceNorm, ones, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ones_, zeros_ } from "../init.js";
import { bufferOf, kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { type Buffer, bufferFrom, type Parameter } from "../parameter.js";

const kOptions = {
  /** Added to the variance; default 1e-5. */
  eps: number.or(1e-5),
  /** How fast running statistics follow; null averages over all batches. Default 0.1. */
  momentum: number.orNull().or(0.1),
  /** Learn a factor and a summand per channel; default true, for `InstanceNorm2d` false. */
  affine: boolean.or(true),
  /** Keep running statistics, for evaluation; default true, for `InstanceNorm2d` false. */
  trackRunningStats: boolean.or(true),
  ...kLayerArguments,
};

const kBatchNormArguments = { numFeatures: size, ...kOptions };

const kInstanceNormArguments = {
  ...kBatchNormArguments,
  affine: boolean.or(false),
  trackRunningStats: boolean.or(false),
};

/** Options of `BatchNorm1d`, `BatchNorm2d` and `InstanceNorm2d`. */
export type BatchNormOptions = Options<typeof kOptions>;

/** The arguments after the number of channels, by position or as options. */
export type BatchNormArguments =
  | [options?: BatchNormOptions]
  | [
      eps?: number,
      momentum?: number | null,
      affine?: boolean,
      trackRunningStats?: boolean,
      options?: LayerOptions,
    ];

// Parameters and running statistics of one number per channel. Buffers have the names that they
// have in a state dict.
abstract class ChannelNorm extends Module {
  readonly numFeatures: number;
  readonly eps: number;
  readonly momentum: number | null;
  readonly affine: boolean;
  readonly trackRunningStats: boolean;
  weight: Parameter | null;
  bias: Parameter | null;
  running_mean: Buffer | null;
  running_var: Buffer | null;
  num_batches_tracked: Buffer | null;

  constructor(rules: typeof kBatchNormArguments, given: readonly unknown[]) {
    super();
    const name = new.target.name;
    const { device, dtype, ...own } = readArguments(name, rules, given);
    const { numFeatures, affine, trackRunningStats } = own;
    this.numFeatures = numFeatures;
    this.eps = own.eps;
    this.momentum = own.momentum;
    this.affine = affine;
    this.trackRunningStats = trackRunningStats;
    const [size, kind] = [[numFeatures], { device, dtype }];
    this.weight = affine ? parameterOf(name, ones, size, kind) : null;
    this.bias = affine ? parameterOf(name, zeros, size, kind) : null;
    this.running_mean = trackRunningStats ? bufferOf(name, zeros, size, kind) : null;
    this.running_var = trackRunningStats ? bufferOf(name, ones, size, kind) : null;
    this.num_batches_tracked = trackRunningStats ? bufferFrom(zeros([], { dtype: "int64" })) : null;
  }

  /** Sets running means to 0 and variances to 1. */
  resetRunningStats(): void {
    if (this.running_mean !== null) zeros_(this.running_mean);
    if (this.running_var !== null) ones_(this.running_var);
    if (this.num_batches_tracked !== null) zeros_(this.num_batches_tracked);
  }

  /** Sets the factors to 1, the summands to 0, and running statistics to their start. */
  resetParameters(): void {
    this.resetRunningStats();
    if (this.weight !== null) ones_(this.weight);
    if (this.bias !== null) zeros_(this.bias);
  }

  protected checkDims(input: Tensor, ...allowed: number[]): void {
    tensorRule.check(this.constructor.name, "input", input);
    if (allowed.includes(input.ndim)) return;
    const expected = allowed.map((ndim) => `${ndim}D`).join(" or ");
    const message = `expected ${expected} input (got ${input.ndim}D input)`;
    fail("ShapeMismatch", this.constructor.name, message);
  }

  override extraRepr(): string {
    return formatArguments([this.numFeatures], {
      eps: this.eps,
      momentum: this.momentum,
      affine: this.affine,
      trackRunningStats: this.trackRunningStats,
    });
  }
}

abstract class BatchNorm extends ChannelNorm {
  constructor(numFeatures: number, ...rest: BatchNormArguments) {
    super(kBatchNormArguments, [numFeatures, ...rest]);
  }

  override forward(input: Tensor): Tensor {
    const { running_mean, running_var, num_batches_tracked, weight, bias, eps } = this;
    let momentum = this.momentum ?? 0;
    if (this.training && num_batches_tracked !== null) {
      noGrad(() => add_(num_batches_tracked, 1));
      if (this.momentum === null) momentum = 1 / Number(num_batches_tracked.item());
    }
    const usesBatch = this.training || running_mean === null;
    return batchNorm(input, running_mean, running_var, weight, bias, usesBatch, momentum, eps);
  }
}

/** Brings every channel to mean 0 and variance 1 over a batch [batch, channels, length?]. */
export class BatchNorm1d extends BatchNorm {
  /** Returns the normalised batch. */
  override forward(input: Tensor): Tensor {
    this.checkDims(input, 2, 3);
    return super.forward(input);
  }
}

/** Brings every channel to mean 0 and variance 1 over a batch of images. */
export class BatchNorm2d extends BatchNorm {
  /** Returns the normalised batch. */
  override forward(input: Tensor): Tensor {
    this.checkDims(input, 4);
    return super.forward(input);
  }
}

/** Brings every channel of every image to mean 0 and variance 1. */
export class InstanceNorm2d extends ChannelNorm {
  constructor(numFeatures: number, ...rest: BatchNormArguments) {
    super(kInstanceNormArguments, [numFeatures, ...rest]);
  }

  override forward(input: Tensor): Tensor {
    this.checkDims(input, 3, 4);
    const { running_mean, running_var, weight, bias, momentum, eps } = this;
    const batch = input.ndim === 3 ? input.unsqueeze(0) : input;
    const usesInput = this.training || running_mean === null;
    const result = instanceNorm(
      batch,
      running_mean,
      running_var,
      weight,
      bias,
      usesInput,
      momentum ?? 0,
      eps,
    );
    return input.ndim === 3 ? result.squeeze(0) : result;
  }
}

const kGroupNormOptions = {
  /** Added to the variance; default 1e-5. */
  eps: number.or(1e-5),
  /** Learn a factor and a summand per channel; default true. */
  affine: boolean.or(true),
  ...kLayerArguments,
};

const kGroupNormArguments = { numGroups: count, numChannels: size, ...kGroupNormOptions };

/** Options of `GroupNorm`. */
export type GroupNormOptions = Options<typeof kGroupNormOptions>;

/** The arguments after the numbers, by position or as options. */
export type GroupNormArguments =
  | [options?: GroupNormOptions]
  | [eps?: number, affine?: boolean, options?: LayerOptions];

/** Brings groups of channels of every sample to mean 0 and variance 1. */
export class GroupNorm extends Module {
  readonly numGroups: number;
  readonly numChannels: number;
  readonly eps: number;
  readonly affine: boolean;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(numGroups: number, numChannels: number, ...rest: GroupNormArguments) {
    super();
    const name = new.target.name;
    const given = [numGroups, numChannels, ...rest];
    const { device, dtype, ...own } = readArguments(name, kGroupNormArguments, given);
    if (own.numChannels % own.numGroups !== 0) {
      fail("InvalidArgument", name, "num_channels must be divisible by num_groups");
    }
    const { affine } = own;
    this.numGroups = own.numGroups;
    this.numChannels = own.numChannels;
    this.eps = own.eps;
    this.affine = affine;
    const [size, kind] = [[own.numChannels], { device, dtype }];
    this.weight = affine ? parameterOf(name, ones, size, kind) : null;
    this.bias = affine ? parameterOf(name, zeros, size, kind) : null;
  }

  /** Sets the factors to 1 and the summands to 0. */
  resetParameters(): void {
    if (this.weight !== null) ones_(this.weight);
    if (this.bias !== null) zeros_(this.bias);
  }

  override forward(input: Tensor): Tensor {
    return groupNorm(input, this.numGroups, this.weight, this.bias, this.eps);
  }

  override extraRepr(): string {
    return formatArguments([this.numGroups, this.numChannels], {
      eps: this.eps,
      affine: this.affine,
    });
  }
}
