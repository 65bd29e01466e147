import { type Arguments, type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options } from "../../arguments/rule.js";
import { avgPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { avgPool1d, avgPool2d } from "../../generated/ops.js";
import { needsPart } from "../../runtime/start/parts.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { type PoolClass, type PoolLayer, poolLayer } from "./pool_layer.js";

needsPart("extras");

function avgPoolOptions(spatial: number) {
  return {
    /** The distance between windows; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What is added around the input; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** Keep windows that extend past the end; default false. */
    ceilMode: boolean.or(false),
    /** Include padding in the mean; default true. */
    countIncludePad: boolean.or(true),
  };
}

/** Options of `AvgPool1d`. */
export type AvgPool1dOptions = Options<ReturnType<typeof avgPoolOptions>>;

const kAvgPool1dArguments = { kernelSize: perDimension(1, 1), ...avgPoolOptions(1) };

/** The mean of windows over the last dimension. */
export class AvgPool1d extends Module {
  readonly kernelSize: number;
  readonly stride: number;
  readonly padding: number;
  readonly ceilMode: boolean;
  readonly countIncludePad: boolean;

  constructor(
    kernelSize: Ints,
    stride?: Ints | null,
    padding?: Ints,
    ceilMode?: boolean,
    countIncludePad?: boolean,
  );
  constructor(
    kernelSize: Ints,
    ...rest: MixedArguments<
      [stride: Ints | null, padding: Ints, ceilMode: boolean, countIncludePad: boolean],
      AvgPool1dOptions
    >
  );
  constructor(kernelSize: Ints, options?: AvgPool1dOptions);
  constructor(...given: unknown[]) {
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
    /** Divide by this instead of the number of elements. */
    divisorOverride: integer.orNull(),
  };
}

/** Options of `AvgPool2d` and `AvgPool3d`. */
export type AvgPoolOptions = Options<ReturnType<typeof planeOptions>>;

type Positional = [
  stride: Ints | null,
  padding: Ints,
  ceilMode: boolean,
  countIncludePad: boolean,
  divisorOverride: number | null,
];

/** The arguments after the kernel size, by position or as options. */
export type AvgPoolArguments = Arguments<Positional, AvgPoolOptions>;

/** A layer of average pooling over images or volumes. */
export interface AvgPoolLayer extends PoolLayer {
  /** The other arguments. */
  readonly options: AvgPoolOptions;
}

function avgPool(
  spatial: number,
  op: (input: Tensor, kernelSize: Ints, options: object) => unknown,
): PoolClass<Positional, AvgPoolOptions, AvgPoolLayer> {
  return poolLayer(spatial, planeOptions(spatial), op, ["stride", "padding"]);
}

/** The mean of windows over the last two dimensions. */
export class AvgPool2d extends avgPool(2, avgPool2d) {}

/** The mean of windows over the last three dimensions. */
export class AvgPool3d extends avgPool(3, avgPool3d) {}
