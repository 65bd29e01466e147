import { ones, rmsNorm } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { ones_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** Options of `RMSNorm`. */
export interface RMSNormOptions extends LayerOptions {
  /** Added to the mean square; default the dtype's own precision. */
  eps?: number | null;
  /** Learn a factor per element; default true. */
  elementwiseAffine?: boolean;
}

/** Divides the last dimensions by their root mean square. */
export class RMSNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly eps: number | null;
  weight: Parameter | null;

  constructor(
    normalizedShape: number | readonly number[],
    eps?: number | null,
    elementwiseAffine?: boolean,
    options?: LayerOptions,
  );
  constructor(normalizedShape: number | readonly number[], options?: RMSNormOptions);
  constructor(
    normalizedShape: number | readonly number[],
    eps: number | null | RMSNormOptions = null,
    elementwiseAffine = true,
    layerOptions: LayerOptions = {},
  ) {
    super();
    const isNamed = typeof eps === "object" && eps !== null;
    const given = isNamed ? eps : { eps, elementwiseAffine, ...layerOptions };
    const {
      eps: ownEps = null,
      elementwiseAffine: isAffine = true,
      ...options
    }: RMSNormOptions = given;
    this.normalizedShape =
      typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.eps = ownEps;
    this.weight = isAffine ? parameterFrom(ones(this.normalizedShape, options)) : null;
  }

  /** Sets the factors to 1. */
  resetParameters(): void {
    if (this.weight !== null) ones_(this.weight);
  }

  override forward(input: Tensor): Tensor {
    return rmsNorm(input, this.normalizedShape, this.weight, this.eps);
  }

  override extraRepr(): string {
    return formatArguments([this.normalizedShape], {
      eps: this.eps,
      elementwiseAffine: this.weight !== null,
    });
  }
}
