import { type Arguments, readArguments } from "../../arguments/read.js";
import { listOf, type Options, size } from "../../arguments/rule.js";
import { maxUnpool1d, maxUnpool2d, maxUnpool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { PoolClass } from "./pool_layer.js";

needsPart("conv");

function maxUnpoolOptions(spatial: number) {
  return {
    /** The distance between windows; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What the pool added around its input; default 0. */
    padding: perDimension(spatial, 0).or(0),
  };
}

const kCallArguments = {
  input: tensorRule,
  indices: tensorRule,
  /** The sizes of the tensor that was pooled; default null: the smallest that pool to this input. */
  outputSize: listOf(size).orNull(),
};

/** Options of the layers that reverse max pooling. */
export type MaxUnpoolOptions = Options<ReturnType<typeof maxUnpoolOptions>>;

type Positional = [stride: Ints | null, padding: Ints];

/** The arguments after the kernel size, by position or as options. */
export type MaxUnpoolArguments = Arguments<Positional, MaxUnpoolOptions>;

/** The arguments of a call: the maxima, their positions, and the sizes of the tensor that was pooled. */
export type MaxUnpoolCall = [
  input: Tensor,
  indices: Tensor,
  ...rest: Arguments<
    [outputSize: readonly number[] | null],
    {
      /** The sizes of the result. */
      outputSize?: readonly number[] | null;
    }
  >,
];

/** A layer that reverses max pooling. */
export interface MaxUnpoolLayer extends Module {
  readonly kernelSize: Ints;
  readonly stride: Ints;
  readonly padding: Ints;
  forward(...given: MaxUnpoolCall): Tensor;
}

function unpoolLayer(
  spatial: number,
  op: typeof maxUnpool2d,
): PoolClass<Positional, MaxUnpoolOptions, MaxUnpoolLayer> {
  const rules = { kernelSize: perDimension(spatial, 1), ...maxUnpoolOptions(spatial) };
  const perAxis = (value: Ints) =>
    typeof value === "number" ? new Array<number>(spatial).fill(value) : value;
  return class extends Module {
    readonly kernelSize: Ints;
    readonly stride: Ints;
    readonly padding: Ints;

    constructor(...given: readonly unknown[]) {
      super();
      const own = readArguments(new.target.name, rules, given);
      this.kernelSize = perAxis(own.kernelSize);
      this.stride = perAxis(own.stride ?? own.kernelSize);
      this.padding = perAxis(own.padding);
    }

    override forward(...given: MaxUnpoolCall): Tensor {
      const call = readArguments(this.constructor.name, kCallArguments, given);
      const { kernelSize, stride, padding } = this;
      return op(call.input, call.indices, kernelSize, stride, padding, call.outputSize);
    }

    override extraRepr(): string {
      const { kernelSize, stride, padding } = this;
      return formatArguments([], { kernelSize, stride, padding });
    }
  };
}

/** Puts the maxima that `MaxPool1d` found back where they were, among zeros. */
export class MaxUnpool1d extends unpoolLayer(1, maxUnpool1d) {}

/** Puts the maxima that `MaxPool2d` found back where they were, among zeros. */
export class MaxUnpool2d extends unpoolLayer(2, maxUnpool2d) {}

/** Puts the maxima that `MaxPool3d` found back where they were, among zeros. */
export class MaxUnpool3d extends unpoolLayer(3, maxUnpool3d) {}
