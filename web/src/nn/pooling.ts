import { adaptiveAvgPool2d, avgPool2d, maxPool2d } from "../generated/ops.js";
import type { Ints } from "../ops/types.js";
import { namedArguments } from "../runtime/named_arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";

/** Options of `MaxPool2d`. */
export interface MaxPoolOptions {
  /** From one window to the next; default the size of a window. */
  stride?: Ints | null;
  padding?: Ints;
  dilation?: Ints;
  returnIndices?: boolean;
  /** Keep windows that reach over the end; default false. */
  ceilMode?: boolean;
}

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
  readonly options: MaxPoolOptions;

  constructor(
    readonly kernelSize: Ints,
    ...rest: MaxPoolArguments
  ) {
    super();
    this.options = namedArguments<MaxPoolOptions>(kMaxNames, rest);
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

/** Options of `AvgPool2d`. */
export interface AvgPoolOptions {
  /** From one window to the next; default the size of a window. */
  stride?: Ints | null;
  padding?: Ints;
  /** Keep windows that reach over the end; default false. */
  ceilMode?: boolean;
  /** Count padding in the mean; default true. */
  countIncludePad?: boolean;
  /** What to divide by instead of the number of elements. */
  divisorOverride?: number | null;
}

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
  readonly options: AvgPoolOptions;

  constructor(
    readonly kernelSize: Ints,
    ...rest: AvgPoolArguments
  ) {
    super();
    this.options = namedArguments<AvgPoolOptions>(kAvgNames, rest);
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

/** The mean of windows chosen so that the result has a size. */
export class AdaptiveAvgPool2d extends Module {
  constructor(readonly outputSize: Ints) {
    super();
  }

  override forward(input: Tensor): Tensor {
    return adaptiveAvgPool2d(input, this.outputSize);
  }

  override extraRepr(): string {
    return formatArguments([], { outputSize: this.outputSize });
  }
}

const kMaxNames = ["stride", "padding", "dilation", "returnIndices", "ceilMode"] as const;
const kAvgNames = ["stride", "padding", "ceilMode", "countIncludePad", "divisorOverride"] as const;
