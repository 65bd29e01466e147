import { readArguments } from "../../arguments/read.js";
import { boolean, count, number, type Options, size } from "../../arguments/rule.js";
import { groupNorm, ones, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ones_, zeros_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

const kGroupNormOptions = {
  /** Added to the variance; default 1e-5. */
  eps: number.or(1e-5),
  /** Learn a factor and an offset per channel; default true. */
  affine: boolean.or(true),
  ...kLayerArguments,
};

const kGroupNormArguments = { numGroups: count, numChannels: size, ...kGroupNormOptions };

/** Options of `GroupNorm`. */
export type GroupNormOptions = Options<typeof kGroupNormOptions & typeof kLayerArguments>;

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

  constructor(
    numGroups: number,
    numChannels: number,
    eps?: number,
    affine?: boolean,
    options?: LayerOptions,
  );
  constructor(numGroups: number, numChannels: number, options?: GroupNormOptions);
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { device, dtype, ...own } = readArguments(name, kGroupNormArguments, given);
    if (own.numChannels % own.numGroups !== 0) {
      fail(
        "InvalidArgument",
        name,
        `numChannels must be divisible by numGroups, got ${own.numChannels} and ${own.numGroups}.`,
      );
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

  /** Sets the factors to 1 and the offsets to 0. */
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
