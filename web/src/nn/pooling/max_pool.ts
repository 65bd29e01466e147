import { readArguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { maxPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { maxPool1d, maxPool2d } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function maxPoolOptions(spatial: number) {
  return {
    /** From one window to the next; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What is added around the input; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** From one element of a window to the next; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    /** Return where the largest elements are, too; default false. */
    returnIndices: boolean.or(false),
    /** Keep windows that reach over the end; default false. */
    ceilMode: boolean.or(false),
  };
}

/** Options of the layers of max pooling. */
export type MaxPoolOptions = Options<ReturnType<typeof maxPoolOptions>>;

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

abstract class MaxPool extends Module {
  readonly kernelSize: Ints;
  readonly options: MaxPoolOptions;

  constructor(spatial: number, given: readonly unknown[]) {
    super();
    const rules = { kernelSize: perDimension(spatial, 1), ...maxPoolOptions(spatial) };
    const { kernelSize, ...options } = readArguments(new.target.name, rules, given);
    this.kernelSize = kernelSize;
    this.options = options;
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

/** The largest element of windows over the last dimension. */
export class MaxPool1d extends MaxPool {
  constructor(...given: [kernelSize: Ints, ...MaxPoolArguments]) {
    super(1, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places in the signals. */
  override forward(input: Tensor): Tensor {
    return maxPool1d(input, this.kernelSize, { ...this.options }) as Tensor;
  }
}

/** The largest element of windows over the last two dimensions. */
export class MaxPool2d extends MaxPool {
  constructor(...given: [kernelSize: Ints, ...MaxPoolArguments]) {
    super(2, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places in the planes. */
  override forward(input: Tensor): Tensor {
    return maxPool2d(input, this.kernelSize, { ...this.options }) as Tensor;
  }
}

/** The largest element of windows over the last three dimensions. */
export class MaxPool3d extends MaxPool {
  constructor(...given: [kernelSize: Ints, ...MaxPoolArguments]) {
    super(3, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places in the volumes. */
  override forward(input: Tensor): Tensor {
    return maxPool3d(input, this.kernelSize, { ...this.options } as object) as Tensor;
  }
}
