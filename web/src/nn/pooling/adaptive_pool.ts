import type { Arguments, Constructor } from "../../arguments/read.js";
import { boolean, type Options, Rule, size } from "../../arguments/rule.js";
import {
  adaptiveAvgPool1d,
  adaptiveAvgPool3d,
  adaptiveMaxPool1d,
  adaptiveMaxPool3d,
} from "../../composites/index.js";
import type { OutputSize } from "../../dispatch/types.js";
import { adaptiveAvgPool2d, adaptiveMaxPool2d } from "../../generated/ops.js";
import { needsPart } from "../../runtime/start/parts.js";
import type { Tensor } from "../../tensor/tensor.js";
import { declared, type Layer, layerOfOne } from "../layer.js";
import { formatArguments } from "../module_text.js";

needsPart("extras");

function outputSizeOf(spatial: number): Rule<OutputSize> {
  return new Rule<OutputSize>(
    `${size.expected}, or a list of ${spatial}, where null keeps the size of the input`,
    (value) =>
      Array.isArray(value)
        ? value.length === spatial &&
          value.every((element) => element === null || size.accepts(element))
        : size.accepts(value),
  );
}

/** A layer of pooling whose windows are chosen so that the result has the given size. */
export interface AdaptivePoolLayer extends Layer {
  /** The sizes of the result. */
  readonly outputSize: OutputSize;
}

/** The class of a layer of adaptive average pooling. */
export interface AdaptiveAvgPoolClass {
  new (...given: [outputSize: OutputSize]): AdaptivePoolLayer;
}

function adaptiveAvgPool(
  spatial: number,
  op: (input: Tensor, outputSize: OutputSize) => Tensor,
): AdaptiveAvgPoolClass {
  return layerOfOne({ outputSize: outputSizeOf(spatial) }, op);
}

/** The mean of windows over the last dimension, chosen so that the result has the given size. */
export class AdaptiveAvgPool1d extends adaptiveAvgPool(1, adaptiveAvgPool1d) {}

/** The mean of windows over the last two dimensions, chosen so that the result has the given size. */
export class AdaptiveAvgPool2d extends adaptiveAvgPool(2, adaptiveAvgPool2d) {}

/** The mean of windows over the last three dimensions, chosen so that the result has the given size. */
export class AdaptiveAvgPool3d extends adaptiveAvgPool(3, adaptiveAvgPool3d) {}

const kMaxOptions = {
  /** Also return the positions of the largest elements; default false. */
  returnIndices: boolean.or(false),
};

/** Options of the layers of adaptive max pooling. */
export type AdaptiveMaxPoolOptions = Options<typeof kMaxOptions>;

/** The arguments of the layers of adaptive max pooling. */
export type AdaptiveMaxPoolArguments = [
  outputSize: OutputSize,
  ...rest: Arguments<[returnIndices: boolean], AdaptiveMaxPoolOptions>,
];

/** A layer of adaptive max pooling. */
export interface AdaptiveMaxPoolLayer extends AdaptivePoolLayer {
  /** Whether the positions of the maxima are returned, too. */
  readonly returnIndices: boolean;
  /** Returns the maxima, or with `returnIndices` also their positions in the flattened signal, image or volume. */
  forward(input: Tensor): Tensor;
}

/** The class of a layer of adaptive max pooling. */
export interface AdaptiveMaxPoolClass
  extends Constructor<
    [outputSize: OutputSize],
    [returnIndices: boolean],
    AdaptiveMaxPoolOptions,
    AdaptiveMaxPoolLayer
  > {}

function adaptiveMaxPool(
  spatial: number,
  op: (input: Tensor, outputSize: OutputSize, options: object) => unknown,
): AdaptiveMaxPoolClass {
  const rules = { outputSize: outputSizeOf(spatial), ...kMaxOptions };
  return class extends declared<AdaptiveMaxPoolClass, typeof rules>(rules) {
    override forward(input: Tensor): Tensor {
      const { outputSize, returnIndices } = this;
      return op(input, outputSize, { returnIndices }) as Tensor;
    }

    override extraRepr(): string {
      return formatArguments([], { outputSize: this.outputSize });
    }
  };
}

/** The largest element of windows over the last dimension, chosen so that the result has the given size. */
export class AdaptiveMaxPool1d extends adaptiveMaxPool(1, adaptiveMaxPool1d) {}

/** The largest element of windows over the last two dimensions, chosen so that the result has the given size. */
export class AdaptiveMaxPool2d extends adaptiveMaxPool(2, adaptiveMaxPool2d) {}

/** The largest element of windows over the last three dimensions, chosen so that the result has the given size. */
export class AdaptiveMaxPool3d extends adaptiveMaxPool(3, adaptiveMaxPool3d) {}
