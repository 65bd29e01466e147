import { bilinear, empty } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { uniform_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import type { LinearOptions } from "./linear.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** y = x1^T A x2 + b, with a matrix A per output. */
export class Bilinear extends Module {
  weight: Parameter;
  bias: Parameter | null;

  constructor(
    in1Features: number,
    in2Features: number,
    outFeatures: number,
    bias?: boolean,
    options?: LayerOptions,
  );
  constructor(
    in1Features: number,
    in2Features: number,
    outFeatures: number,
    options?: LinearOptions,
  );
  constructor(
    readonly in1Features: number,
    readonly in2Features: number,
    readonly outFeatures: number,
    bias: boolean | LinearOptions = true,
    layerOptions: LayerOptions = {},
  ) {
    super();
    const given = typeof bias === "object" ? bias : { bias, ...layerOptions };
    const { bias: hasBias = true, ...options }: LinearOptions = given;
    this.weight = parameterFrom(empty([outFeatures, in1Features, in2Features], options));
    this.bias = hasBias ? parameterFrom(empty([outFeatures], options)) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    const bound = 1 / Math.sqrt(this.in1Features);
    uniform_(this.weight, -bound, bound);
    if (this.bias !== null) uniform_(this.bias, -bound, bound);
  }

  override forward(input1: Tensor, input2: Tensor): Tensor {
    return bilinear(input1, input2, this.weight, this.bias);
  }

  override extraRepr(): string {
    return formatArguments([], {
      in1Features: this.in1Features,
      in2Features: this.in2Features,
      outFeatures: this.outFeatures,
      bias: this.bias !== null,
    });
  }
}
