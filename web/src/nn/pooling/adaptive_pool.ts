import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, type Options, Rule, size } from "../../arguments/rule.js";
import {
  adaptiveAvgPool1d,
  adaptiveAvgPool3d,
  adaptiveMaxPool1d,
  adaptiveMaxPool3d,
} from "../../composites/index.js";
import type { OutputSize } from "../../dispatch/types.js";
import { adaptiveAvgPool2d, adaptiveMaxPool2d } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function outputSizeOf(spatial: number): Rule<OutputSize> {
  return new Rule<OutputSize>(
    `${size.expected}, or a list of ${spatial}, in which null keeps that of the input`,
    (value) =>
      Array.isArray(value)
        ? value.length === spatial && value.every((one) => one === null || size.accepts(one))
        : size.accepts(value),
  );
}

abstract class AdaptivePool extends Module {
  readonly outputSize: OutputSize;

  constructor(outputSize: OutputSize) {
    super();
    this.outputSize = outputSize;
  }

  override extraRepr(): string {
    return formatArguments([], { outputSize: this.outputSize });
  }
}

abstract class AdaptiveAvgPool extends AdaptivePool {
  constructor(spatial: number, given: readonly unknown[]) {
    const rules = { outputSize: outputSizeOf(spatial) };
    super(readArguments(new.target.name, rules, given).outputSize);
  }
}

/** The mean of windows over the last two dimensions, chosen so that the result has a size. */
export class AdaptiveAvgPool2d extends AdaptiveAvgPool {
  constructor(...given: [outputSize: OutputSize]) {
    super(2, given);
  }

  override forward(input: Tensor): Tensor {
    return adaptiveAvgPool2d(input, this.outputSize);
  }
}

/** The mean of windows over the last dimension, chosen so that the result has a size. */
export class AdaptiveAvgPool1d extends AdaptiveAvgPool {
  constructor(...given: [outputSize: OutputSize]) {
    super(1, given);
  }

  override forward(input: Tensor): Tensor {
    return adaptiveAvgPool1d(input, this.outputSize);
  }
}

/** The mean of windows over the last three dimensions, chosen so that the result has a size. */
export class AdaptiveAvgPool3d extends AdaptiveAvgPool {
  constructor(...given: [outputSize: OutputSize]) {
    super(3, given);
  }

  override forward(input: Tensor): Tensor {
    return adaptiveAvgPool3d(input, this.outputSize);
  }
}

const kMaxOptions = {
  /** Return where the largest elements are, too; default false. */
  returnIndices: boolean.or(false),
};

/** Options of the layers of adaptive max pooling. */
export type AdaptiveMaxPoolOptions = Options<typeof kMaxOptions>;

/** The arguments of the layers of adaptive max pooling. */
export type AdaptiveMaxPoolArguments = [
  outputSize: OutputSize,
  ...rest: Arguments<[returnIndices: boolean], AdaptiveMaxPoolOptions>,
];

abstract class AdaptiveMaxPool extends AdaptivePool {
  readonly returnIndices: boolean;

  constructor(spatial: number, given: readonly unknown[]) {
    const rules = { outputSize: outputSizeOf(spatial), ...kMaxOptions };
    const { outputSize, returnIndices } = readArguments(new.target.name, rules, given);
    super(outputSize);
    this.returnIndices = returnIndices;
  }
}

/** The largest element of windows over the last two dimensions, chosen so that the result has a size. */
export class AdaptiveMaxPool2d extends AdaptiveMaxPool {
  constructor(...given: AdaptiveMaxPoolArguments) {
    super(2, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places in the planes. */
  override forward(input: Tensor): Tensor {
    const { outputSize, returnIndices } = this;
    return adaptiveMaxPool2d(input, outputSize, { returnIndices } as object) as Tensor;
  }
}

/** The largest element of windows over the last dimension, chosen so that the result has a size. */
export class AdaptiveMaxPool1d extends AdaptiveMaxPool {
  constructor(...given: AdaptiveMaxPoolArguments) {
    super(1, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places. */
  override forward(input: Tensor): Tensor {
    const { outputSize, returnIndices } = this;
    return adaptiveMaxPool1d(input, outputSize, { returnIndices } as object) as Tensor;
  }
}

/** The largest element of windows over the last three dimensions, chosen so that the result has a size. */
export class AdaptiveMaxPool3d extends AdaptiveMaxPool {
  constructor(...given: AdaptiveMaxPoolArguments) {
    super(3, given);
  }

  /** Returns the maxima, or with `returnIndices` also their places. */
  override forward(input: Tensor): Tensor {
    const { outputSize, returnIndices } = this;
    return adaptiveMaxPool3d(input, outputSize, { returnIndices } as object) as Tensor;
  }
}
