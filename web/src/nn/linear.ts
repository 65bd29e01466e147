import { empty, linear } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { fans, kaimingUniform_, uniform_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** Options of `Linear`. */
export interface LinearOptions extends LayerOptions {
  /** Add a learned bias; default true. */
  bias?: boolean;
}

/** y = x W^T + b. */
export class Linear extends Module {
  weight: Parameter;
  bias: Parameter | null;

  constructor(inFeatures: number, outFeatures: number, bias?: boolean, options?: LayerOptions);
  constructor(inFeatures: number, outFeatures: number, options?: LinearOptions);
  constructor(
    readonly inFeatures: number,
    readonly outFeatures: number,
    bias: boolean | LinearOptions = true,
    layerOptions: LayerOptions = {},
  ) {
    super();
    const given = typeof bias === "object" ? bias : { bias, ...layerOptions };
    const { bias: hasBias = true, ...options }: LinearOptions = given;
    this.weight = parameterFrom(empty([outFeatures, inFeatures], options));
    this.bias = hasBias ? parameterFrom(empty([outFeatures], options)) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    kaimingUniform_(this.weight, { a: Math.sqrt(5) });
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
