import { readArguments } from "../../arguments/read.js";
import { boolean, type Options, size } from "../../arguments/rule.js";
import { empty, linear } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { fans, kaimingUniform_, uniform_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

/** The arguments of `Linear` and `Bilinear` after the sizes. */
export const kLinearOptions = {
  /** Add a learned bias; default true. */
  bias: boolean.or(true),
  ...kLayerArguments,
};

const kArguments = { inFeatures: size, outFeatures: size, ...kLinearOptions };

/** Options of `Linear`. */
export type LinearOptions = Options<typeof kLinearOptions & typeof kLayerArguments>;

/** y = x W^T + b. */
export class Linear extends Module {
  readonly inFeatures: number;
  readonly outFeatures: number;
  weight: Parameter;
  bias: Parameter | null;

  constructor(inFeatures: number, outFeatures: number, bias?: boolean, options?: LayerOptions);
  constructor(inFeatures: number, outFeatures: number, options?: LinearOptions);
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { inFeatures, outFeatures, bias, ...kind } = readArguments(name, kArguments, given);
    this.inFeatures = inFeatures;
    this.outFeatures = outFeatures;
    this.weight = parameterOf(name, empty, [outFeatures, inFeatures], kind);
    this.bias = bias ? parameterOf(name, empty, [outFeatures], kind) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    if (this.weight.numel > 0) kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    if (this.bias === null) return;
    const { fanIn } = fans(this.weight);
    const bound = fanIn > 0 ? 1 / Math.sqrt(fanIn) : 0;
    uniform_(this.bias, -bound, bound);
  }

  override forward(input: Tensor): Tensor {
    return linear(input, this.weight, this.bias);
  }

  override extraRepr(): string {
    return formatArguments([], {
      inFeatures: this.inFeatures,
      outFeatures: this.outFeatures,
      bias: this.bias !== null,
    });
  }
}
