import { layerNorm, ones, zeros } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { ones_, zeros_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** Options of `LayerNorm`. */
export interface LayerNormOptions extends LayerOptions {
  /** Added to the variance; default 1e-5. */
  eps?: number;
  /** Learn a factor and a summand per element; default true. */
  elementwiseAffine?: boolean;
  /** Learn the summand; default true. */
  bias?: boolean;
}

/** Brings the last dimensions to mean 0 and variance 1. */
export class LayerNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number;
  weight: Parameter | null;
  bias: Parameter | null;

  constructor(
    normalizedShape: number | readonly number[],
    eps?: number,
    elementwiseAffine?: boolean,
    bias?: boolean,
    options?: LayerOptions,
  );
  constructor(normalizedShape: number | readonly number[], options?: LayerNormOptions);
  constructor(
    normalizedShape: number | readonly number[],
    eps: number | LayerNormOptions = kDefaultEps,
    elementwiseAffine = true,
    bias = true,
    layerOptions: LayerOptions = {},
  ) {
    super();
    const given = typeof eps === "object" ? eps : { eps, elementwiseAffine, bias, ...layerOptions };
    const {
      eps: ownEps = kDefaultEps,
      elementwiseAffine: isAffine = true,
      bias: hasBias = true,
      ...options
    }: LayerNormOptions = given;
    this.normalizedShape =
      typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.eps = ownEps;
    this.weight = isAffine ? parameterFrom(ones(this.normalizedShape, options)) : null;
    this.bias = isAffine && hasBias ? parameterFrom(zeros(this.normalizedShape, options)) : null;
  }

  /** Sets the factors to 1 and the summands to 0. */
  resetParameters(): void {
    if (this.weight !== null) ones_(this.weight);
    if (this.bias !== null) zeros_(this.bias);
  }

  override forward(input: Tensor): Tensor {
    return layerNorm(input, this.normalizedShape, this.weight, this.bias, this.eps);
  }

  override extraRepr(): string {
    return formatArguments([this.normalizedShape], {
      eps: this.eps,
      elementwiseAffine: this.weight !== null,
    });
  }
}

const kDefaultEps = 1e-5;
