import { type Arguments, readArguments } from "../../arguments/read.js";
import { integer, listOf, type Options } from "../../arguments/rule.js";
import { maxUnpool1d, maxUnpool2d, maxUnpool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function maxUnpoolOptions(spatial: number) {
  return {
    /** From one window to the next; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What was added around the input of the pooling; default 0. */
    padding: perDimension(spatial, 0).or(0),
  };
}

/** Options of the layers that undo max pooling. */
export type MaxUnpoolOptions = Options<ReturnType<typeof maxUnpoolOptions>>;

/** The arguments after the kernel size, by position or as options. */
export type MaxUnpoolArguments = Arguments<[stride: Ints | null, padding: Ints], MaxUnpoolOptions>;

const kCallOptions = {
  /** The size of the result, where pooling gave several the same one. */
  outputSize: listOf(integer).orNull(),
};

/** Options of a call of a layer that undoes max pooling. */
export type MaxUnpoolCall = Options<typeof kCallOptions>;

abstract class MaxUnpool extends Module {
  readonly kernelSize: Ints;
  readonly stride: Ints;
  readonly padding: Ints;
  readonly #spatial: number;
  readonly #unpool: typeof maxUnpool1d;

  constructor(spatial: number, unpool: typeof maxUnpool1d, given: readonly unknown[]) {
    super();
    const rules = { kernelSize: perDimension(spatial, 1), ...maxUnpoolOptions(spatial) };
    const own = readArguments(new.target.name, rules, given);
    this.kernelSize = own.kernelSize;
    this.stride = own.stride ?? own.kernelSize;
    this.padding = own.padding;
    this.#spatial = spatial;
    this.#unpool = unpool;
  }

  /** Puts what a max pooling with `returnIndices` found back to where it was, zeros elsewhere. */
  override forward(
    input: Tensor,
    indices: Tensor,
    ...rest: Arguments<[outputSize: readonly number[] | null], MaxUnpoolCall>
  ): Tensor {
    const { outputSize } = readArguments(this.constructor.name, kCallOptions, rest);
    const { kernelSize, stride, padding } = this;
    return this.#unpool(input, indices, kernelSize, stride, padding, outputSize);
  }

  override extraRepr(): string {
    const each = (value: Ints) => {
      return typeof value === "number" ? Array<number>(this.#spatial).fill(value) : value;
    };
    const { kernelSize, stride, padding } = this;
    return formatArguments([], {
      kernelSize: each(kernelSize),
      stride: each(stride),
      padding: each(padding),
    });
  }
}

/** Undoes `MaxPool1d`, as far as its result tells. */
export class MaxUnpool1d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...MaxUnpoolArguments]) {
    super(1, maxUnpool1d, given);
  }
}

/** Undoes `MaxPool2d`, as far as its result tells. */
export class MaxUnpool2d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...MaxUnpoolArguments]) {
    super(2, maxUnpool2d, given);
  }
}

/** Undoes `MaxPool3d`, as far as its result tells. */
export class MaxUnpool3d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...MaxUnpoolArguments]) {
    super(3, maxUnpool3d, given);
  }
}
