import { type Arguments, readArguments } from "../../arguments/read.js";
import { listOf, type Options, size } from "../../arguments/rule.js";
import { maxUnpool1d, maxUnpool2d, maxUnpool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function maxUnpoolOptions(spatial: number) {
  return {
    /** From one window to the next; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** What the pool added around its input; default 0. */
    padding: perDimension(spatial, 0).or(0),
  };
}

const kCallArguments = {
  input: tensorRule,
  indices: tensorRule,
  /** The sizes of what was pooled, where they are not the least that pool to this; default null. */
  outputSize: listOf(size).orNull(),
};

/** Options of the layers that undo max pooling. */
export type MaxUnpoolOptions = Options<ReturnType<typeof maxUnpoolOptions>>;

/** The arguments after the kernel size, by position or as options. */
export type MaxUnpoolArguments = Arguments<[stride: Ints | null, padding: Ints], MaxUnpoolOptions>;

/** The arguments of a call: what a pool found, where, and the sizes that it had of it. */
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

abstract class MaxUnpool extends Module {
  readonly kernelSize: Ints;
  readonly stride: Ints;
  readonly padding: Ints;

  constructor(spatial: number, given: readonly unknown[]) {
    super();
    const rules = { kernelSize: perDimension(spatial, 1), ...maxUnpoolOptions(spatial) };
    const own = readArguments(new.target.name, rules, given);
    const perAxis = (value: Ints) =>
      typeof value === "number" ? new Array<number>(spatial).fill(value) : value;
    this.kernelSize = perAxis(own.kernelSize);
    this.stride = perAxis(own.stride ?? own.kernelSize);
    this.padding = perAxis(own.padding);
  }

  protected undo(unpool: typeof maxUnpool2d, given: readonly unknown[]): Tensor {
    const call = readArguments(this.constructor.name, kCallArguments, given);
    const { kernelSize, stride, padding } = this;
    return unpool(call.input, call.indices, kernelSize, stride, padding, call.outputSize);
  }

  override extraRepr(): string {
    const { kernelSize, stride, padding } = this;
    return formatArguments([], { kernelSize, stride, padding });
  }
}

/** Puts what `MaxPool1d` found back to where it found it, among zeros. */
export class MaxUnpool1d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...rest: MaxUnpoolArguments]) {
    super(1, given);
  }

  override forward(...given: MaxUnpoolCall): Tensor {
    return this.undo(maxUnpool1d, given);
  }
}

/** Puts what `MaxPool2d` found back to where it found it, among zeros. */
export class MaxUnpool2d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...rest: MaxUnpoolArguments]) {
    super(2, given);
  }

  override forward(...given: MaxUnpoolCall): Tensor {
    return this.undo(maxUnpool2d, given);
  }
}

/** Puts what `MaxPool3d` found back to where it found it, among zeros. */
export class MaxUnpool3d extends MaxUnpool {
  constructor(...given: [kernelSize: Ints, ...rest: MaxUnpoolArguments]) {
    super(3, given);
  }

  override forward(...given: MaxUnpoolCall): Tensor {
    return this.undo(maxUnpool3d, given);
  }
}
