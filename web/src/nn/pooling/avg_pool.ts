import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options } from "../../arguments/rule.js";
import { avgPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { avgPool1d, avgPool2d } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function avgPoolOptions(spatial: number) {
  return {
    /** From one window to the next; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What is added around the input; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** Keep windows that reach over the end; default false. */
    ceilMode: boolean.or(false),
    /** Count padding in the mean; default true. */
    countIncludePad: boolean.or(true),
  };
}

const kAvgPool1dArguments = { kernelSize: perDimension(1, 1), ...avgPoolOptions(1) };

/** Options of `AvgPool1d`. */
export type AvgPool1dOptions = Options<ReturnType<typeof avgPoolOptions>>;

/** The mean of windows over the last dimension. */
export class AvgPool1d extends Module {
  readonly kernelSize: number;
  readonly stride: number;
  readonly padding: number;
  readonly ceilMode: boolean;
  readonly countIncludePad: boolean;

  constructor(
    ...given: [
      kernelSize: Ints,
      ...rest: Arguments<
        [stride: Ints | null, padding: Ints, ceilMode: boolean, countIncludePad: boolean],
        AvgPool1dOptions
      >,
    ]
  ) {
    super();
    const own = readArguments(new.target.name, kAvgPool1dArguments, given);
    this.kernelSize = single(own.kernelSize);
    this.stride = single(own.stride ?? own.kernelSize);
    this.padding = single(own.padding);
    this.ceilMode = own.ceilMode;
    this.countIncludePad = own.countIncludePad;
  }

  override forward(input: Tensor): Tensor {
    const { kernelSize, stride, padding, ceilMode, countIncludePad } = this;
    return avgPool1d(input, kernelSize, stride, padding, ceilMode, countIncludePad);
  }

  override extraRepr(): string {
    return formatArguments([], {
      kernelSize: [this.kernelSize],
      stride: [this.stride],
      padding: [this.padding],
    });
  }
}

function single(values: Ints): number {
  return typeof values === "number" ? values : (values[0] as number);
}

function planeOptions(spatial: number) {
  return {
    ...avgPoolOptions(spatial),
    /** What to divide by instead of the number of elements. */
    divisorOverride: integer.orNull(),
  };
}

/** Options of `AvgPool2d` and `AvgPool3d`. */
export type AvgPoolOptions = Options<ReturnType<typeof planeOptions>>;

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

abstract class AvgPool extends Module {
  readonly kernelSize: Ints;
  readonly options: AvgPoolOptions;

  constructor(spatial: number, given: readonly unknown[]) {
    super();
    const rules = { kernelSize: perDimension(spatial, 1), ...planeOptions(spatial) };
    const { kernelSize, ...options } = readArguments(new.target.name, rules, given);
    this.kernelSize = kernelSize;
    this.options = options;
  }

  override extraRepr(): string {
    return formatArguments([], {
      kernelSize: this.kernelSize,
      stride: this.options.stride ?? this.kernelSize,
      padding: this.options.padding ?? 0,
    });
  }
}

/** The mean of windows over the last two dimensions. */
export class AvgPool2d extends AvgPool {
  constructor(...given: [kernelSize: Ints, ...AvgPoolArguments]) {
    super(2, given);
  }

  override forward(input: Tensor): Tensor {
    return avgPool2d(input, this.kernelSize, { ...this.options });
  }
}

/** The mean of windows over the last three dimensions. */
export class AvgPool3d extends AvgPool {
  constructor(...given: [kernelSize: Ints, ...AvgPoolArguments]) {
    super(3, given);
  }

  override forward(input: Tensor): Tensor {
    return avgPool3d(input, this.kernelSize, { ...this.options });
  }
}
