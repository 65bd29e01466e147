import { readArguments } from "../../arguments/read.js";
import { count } from "../../arguments/rule.js";
import { bilinear, empty } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { uniform_ } from "../init.js";
import { type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";
import { kLinearOptions, type LinearOptions } from "./linear.js";

const kArguments = {
  in1Features: count,
  in2Features: count,
  outFeatures: count,
  ...kLinearOptions,
};

/** y = x1^T A x2 + b, with a matrix A per output. */
export class Bilinear extends Module {
  readonly in1Features: number;
  readonly in2Features: number;
  readonly outFeatures: number;
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
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { bias, device, dtype, ...sizes } = readArguments(name, kArguments, given);
    const { in1Features, in2Features, outFeatures } = sizes;
    const kind = { device, dtype };
    this.in1Features = in1Features;
    this.in2Features = in2Features;
    this.outFeatures = outFeatures;
    this.weight = parameterOf(name, empty, [outFeatures, in1Features, in2Features], kind);
    this.bias = bias ? parameterOf(name, empty, [outFeatures], kind) : null;
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
