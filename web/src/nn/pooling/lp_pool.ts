import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
import { lpPool1d, lpPool2d, lpPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

function lpPoolOptions(spatial: number) {
  return {
    /** From one window to the next; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** Keep windows that reach over the end; default false. */
    ceilMode: boolean.or(false),
  };
}

/** Options of the layers of Lp pooling. */
export type LPPoolOptions = Options<ReturnType<typeof lpPoolOptions>>;

/** The arguments of the layers of Lp pooling. */
export type LPPoolArguments = [
  normType: number,
  kernelSize: Ints,
  ...rest: Arguments<[stride: Ints | null, ceilMode: boolean], LPPoolOptions>,
];

abstract class LPPool extends Module {
  readonly normType: number;
  readonly kernelSize: Ints;
  readonly stride: Ints | null;
  readonly ceilMode: boolean;

  constructor(spatial: number, given: readonly unknown[]) {
    super();
    const kernelSize = perDimension(spatial, 1);
    const rules = { normType: number, kernelSize, ...lpPoolOptions(spatial) };
    const own = readArguments(new.target.name, rules, given);
    this.normType = own.normType;
    this.kernelSize = own.kernelSize;
    this.stride = own.stride;
    this.ceilMode = own.ceilMode;
  }

  override extraRepr(): string {
    const { normType, kernelSize, stride, ceilMode } = this;
    return formatArguments([], { normType, kernelSize, stride, ceilMode });
  }
}

/** The norm of windows over the last dimension. */
export class LPPool1d extends LPPool {
  constructor(...given: LPPoolArguments) {
    super(1, given);
  }

  override forward(input: Tensor): Tensor {
    return lpPool1d(input, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}

/** The norm of windows over the last two dimensions. */
export class LPPool2d extends LPPool {
  constructor(...given: LPPoolArguments) {
    super(2, given);
  }

  override forward(input: Tensor): Tensor {
    return lpPool2d(input, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}

/** The norm of windows over the last three dimensions. */
export class LPPool3d extends LPPool {
  constructor(...given: LPPoolArguments) {
    super(3, given);
  }

  override forward(input: Tensor): Tensor {
    return lpPool3d(input, this.normType, this.kernelSize, this.stride, this.ceilMode);
  }
}
