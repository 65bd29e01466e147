import type { Arguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { maxPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { maxPool1d, maxPool2d } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { type PoolClass, type PoolLayer, poolLayer } from "./pool_layer.js";

function optionsOf(spatial: number) {
  return {
    /** The distance between windows; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What is added around the input; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** The distance between elements of a window; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    /** Also return the positions of the largest elements; default false. */
    returnIndices: boolean.or(false),
    /** Keep windows that extend past the end; default false. */
    ceilMode: boolean.or(false),
  };
}

/** Options of the layers of max pooling. */
export type MaxPoolOptions = Options<ReturnType<typeof optionsOf>>;

type Positional = [
  stride: Ints | null,
  padding: Ints,
  dilation: Ints,
  returnIndices: boolean,
  ceilMode: boolean,
];

/** The arguments after the kernel size, by position or as options. */
export type MaxPoolArguments = Arguments<Positional, MaxPoolOptions>;

/** A layer of max pooling. */
export interface MaxPoolLayer extends PoolLayer {
  /** The other arguments. */
  readonly options: MaxPoolOptions;
  /** Returns the maxima, or with `returnIndices` also their positions in the flattened signal, image or volume. */
  forward(input: Tensor): Tensor;
}

function maxPool(
  spatial: number,
  op: (input: Tensor, kernelSize: Ints, options: object) => unknown,
): PoolClass<Positional, MaxPoolOptions, MaxPoolLayer> {
  return poolLayer(spatial, optionsOf(spatial), op, ["stride", "padding", "dilation", "ceilMode"]);
}

/** The largest element of windows over the last dimension. */
export class MaxPool1d extends maxPool(1, maxPool1d) {}

/** The largest element of windows over the last two dimensions. */
export class MaxPool2d extends maxPool(2, maxPool2d) {}

/** The largest element of windows over the last three dimensions. */
export class MaxPool3d extends maxPool(3, maxPool3d) {}
