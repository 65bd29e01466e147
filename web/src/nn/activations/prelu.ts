import { readArguments } from "../../arguments/read.js";
import { count, number, type Options } from "../../arguments/rule.js";
import { empty, prelu } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { constant_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

const kArguments = {
  /** 1 for one factor for all channels, or the number of channels; default 1. */
  numParameters: count.or(1),
  /** The initial value of the factors; default 0.25. */
  init: number.or(0.25),
  ...kLayerArguments,
};

/** Options of `PReLU`. */
export type PReLUOptions = Options<typeof kArguments & typeof kLayerArguments>;

/** x, times a learned factor where it is negative. */
export class PReLU extends Module {
  readonly numParameters: number;
  readonly init: number;
  weight: Parameter;

  constructor(numParameters?: number, init?: number, options?: LayerOptions);
  constructor(options?: PReLUOptions);
  constructor(numParameters: number, options: PReLUOptions);
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { numParameters, init, ...kind } = readArguments(name, kArguments, given);
    this.numParameters = numParameters;
    this.init = init;
    this.weight = parameterOf(name, empty, [numParameters], kind);
    this.resetParameters();
  }

  /** Sets the factors to their initial value. */
  resetParameters(): void {
    constant_(this.weight, this.init);
  }

  override forward(input: Tensor): Tensor {
    return prelu(input, this.weight);
  }

  override extraRepr(): string {
    return formatArguments([], { numParameters: this.numParameters });
  }
}
