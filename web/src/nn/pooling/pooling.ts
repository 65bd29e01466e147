import { readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options, Rule, size } from "../../arguments/rule.js";
import type { Ints, OutputSize } from "../../dispatch/types.js";
import { adaptiveAvgPool2d, avgPool2d, maxPool2d } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

const kMaxPoolOptions = {
  /** From one window to the next; default the size of a window. */
  stride: perDimension(2, 1).orNull(),
  /** What is added around the input; default 0. */
  padding: perDimension(2, 0).or(0),
  /** From one element of a window to the next; default 1. */
  dilation: perDimension(2, 1).or(1),
  /** Return where the largest elements are, too; default false. */
  returnIndices: boolean.or(false),
  /** Keep windows that reach over the end; default false. */
  ceilMode: boolean.or(false),
};

const kMaxPoolArguments = { kernelSize: perDimension(2, 1), ...kMaxPoolOptions };

/** Options of `MaxPool2d`. */
export type MaxPoolOptions = Options<typeof kMaxPoolOptions>;

/** The arguments after the kernel size, by position or as options. */
export type MaxPoolArguments =
  | [options?: MaxPoolOptions]
  | [
      stride?: Ints | null,
      padding?: Ints,
      dilation?: Ints,
      returnIndices?: boolean,
      ceilMode?: boolean,
    ];

/** The largest element of windows over the last two dimensions. */
export class MaxPool2d extends Module {
  readonly kernelSize: Ints;
  readonly options: MaxPoolOptions;

  constructor(...given: [kernelSize: Ints, ...MaxPoolArguments]) {
    super();
    const { kernelSize, ...options } = readArguments(new.target.name, kMaxPoolArguments, given);
    this.kernelSize = kernelSize;
    this.options = options;
  }

  /** Returns the maxima, or with `returnIndices` also their places in the planes. */
  override forward(input: Tensor): Tensor {
    return maxPool2d(input, this.kernelSize, { ...this.options }) as Tensor;
  }

  override extraRepr(): string {
    return formatArguments([], {
      kernelSize: this.kernelSize,
      stride: this.options.stride ?? this.kernelSize,
      padding: this.options.padding ?? 0,
      dilation: this.options.dilation ?? 1,
      ceilMode: this.options.ceilMode ?? false,
    });
  }
}

const kAvgPoolOptions = {
  /** From one window to the next; default the size of a window. */
  stride: perDimension(2, 1).orNull(),
  /** What is added around the input; default 0. */
  padding: perDimension(2, 0).or(0),
  /** Keep windows that reach over the end; default false. */
  ceilMode: boolean.or(false),
  /** Count padding in the mean; default true. */
  countIncludePad: boolean.or(true),
  /** What to divide by instead of the number of elements. */
  divisorOverride: integer.orNull(),
};

const kAvgPoolArguments = { kernelSize: perDimension(2, 1), ...kAvgPoolOptions };

/** Options of `AvgPool2d`. */
export type AvgPoolOptions = Options<typeof kAvgPoolOptions>;

/** The arguments after the kernel size, by position or as options. */
export type AvgPoolArguments =
  | [options?: AvgPoolOptions]
  | [
      stride?: Ints | null,
      padding?: Ints,
      ceilMode?: boolean,
      countIncludePad?: boolean,
      divisorOverride?: number | null,
    ];

/** The mean of windows over the last two dimensions. */
export class AvgPool2d extends Module {
  readonly kernelSize: Ints;
  readonly options: AvgPoolOptions;

  constructor(...given: [kernelSize: Ints, ...AvgPoolArguments]) {
    super();
    const { kernelSize, ...options } = readArguments(new.target.name, kAvgPoolArguments, given);
    this.kernelSize = kernelSize;
    this.options = options;
  }

  override forward(input: Tensor): Tensor {
    return avgPool2d(input, this.kernelSize, { ...this.options });
  }

  override extraRepr(): string {
    return formatArguments([], {
      kernelSize: this.kernelSize,
      stride: this.options.stride ?? this.kernelSize,
      padding: this.options.padding ?? 0,
    });
  }
}

const kOutputSize = new Rule<OutputSize>(
  `${size.expected}, or a list of 2, in which null keeps that of the input`,
  (value) =>
    Array.isArray(value)
      ? value.length === 2 && value.every((one) => one === null || size.accepts(one))
      : size.accepts(value),
);
const kAdaptiveArguments = { outputSize: kOutputSize };

/** The mean of windows chosen so that the result has a size. */
export class AdaptiveAvgPool2d extends Module {
  readonly outputSize: OutputSize;

  constructor(...given: [outputSize: OutputSize]) {
    super();
    this.outputSize = readArguments(new.target.name, kAdaptiveArguments, given).outputSize;
  }

  override forward(input: Tensor): Tensor {
    return adaptiveAvgPool2d(input, this.outputSize);
  }

  override extraRepr(): string {
    return formatArguments([], { outputSize: this.outputSize });
  }
}
