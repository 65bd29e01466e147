import { readArguments } from "../../arguments/read.js";
import { boolean, number, type Options, size } from "../../arguments/rule.js";
import { ones, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ones_, zeros_ } from "../init.js";
import { bufferOf, kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { type Buffer, bufferFrom, type Parameter } from "../parameter.js";

needsPart("conv");

const kOptions = {
  /** Added to the variance; default 1e-5. */
  eps: number.or(1e-5),
  /** The weight of each new batch in running statistics; null averages over all batches. Default 0.1. */
  momentum: number.orNull().or(0.1),
  /** Learn a factor and an offset per channel; default true, for `InstanceNorm` false. */
  affine: boolean.or(true),
  /** Maintain running statistics for evaluation; default true, for `InstanceNorm` false. */
  trackRunningStats: boolean.or(true),
  ...kLayerArguments,
};

/** The declaration of the arguments of BatchNorm. */
export const kBatchNormArguments = { numFeatures: size, ...kOptions };

/** The declaration of the arguments of InstanceNorm. */
export const kInstanceNormArguments = {
  ...kBatchNormArguments,
  affine: boolean.or(false),
  trackRunningStats: boolean.or(false),
};

/** Options of `BatchNorm` and `InstanceNorm`. */
export type BatchNormOptions = Options<typeof kOptions & typeof kLayerArguments>;

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

/**
 * The base of layers with parameters and running statistics per channel. Buffers have the names that they have in a state
 * dict.
 */
export abstract class ChannelNorm extends Module {
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

  /** Resets the running means to 0 and variances to 1. */
  resetRunningStats(): void {
    if (this.running_mean !== null) zeros_(this.running_mean);
    if (this.running_var !== null) ones_(this.running_var);
    if (this.num_batches_tracked !== null) zeros_(this.num_batches_tracked);
  }

  /** Sets the factors to 1 and the offsets to 0, and resets the running statistics. */
  resetParameters(): void {
    this.resetRunningStats();
    if (this.weight !== null) ones_(this.weight);
    if (this.bias !== null) zeros_(this.bias);
  }

  /** Fails for an input whose number of dimensions is not among the allowed ones. */
  protected checkDims(input: Tensor, ...allowed: number[]): void {
    tensorRule.check(this.constructor.name, "input", input);
    if (allowed.includes(input.ndim)) return;
    const expected = allowed.map((ndim) => `${ndim}D`).join(" or ");
    const message = `expected a ${expected} input, got ${input.ndim}D.`;
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

/** A layer that normalizes every channel. */
export interface ChannelNormLayer extends ChannelNorm {
  /** Returns the normalized input. */
  forward(input: Tensor): Tensor;
}

/** The class of a layer that normalizes every channel. */
export interface ChannelNormClass {
  new (
    numFeatures: number,
    eps?: number,
    momentum?: number | null,
    affine?: boolean,
    trackRunningStats?: boolean,
    options?: LayerOptions,
  ): ChannelNormLayer;
  new (numFeatures: number, options?: BatchNormOptions): ChannelNormLayer;
}
