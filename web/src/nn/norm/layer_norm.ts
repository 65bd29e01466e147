import { readArguments } from "../../arguments/read.js";
import { boolean, number, type Options, oneOrMore, size } from "../../arguments/rule.js";
import { layerNorm, ones, zeros } from "../../generated/ops.js";
import { needsPart } from "../../runtime/start/parts.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ones_, zeros_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

needsPart("attention");

const kOptions = {
  /** Added to the variance; default 1e-5. */
  eps: number.or(1e-5),
  /** Learn a factor and an offset per element; default true. */
  elementwiseAffine: boolean.or(true),
  /** Learn the offset; default true. */
  bias: boolean.or(true),
  ...kLayerArguments,
};

const kArguments = { normalizedShape: oneOrMore(size), ...kOptions };

/** Options of `LayerNorm`. */
export type LayerNormOptions = Options<typeof kOptions & typeof kLayerArguments>;

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
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { normalizedShape, eps, elementwiseAffine, bias, ...kind } = readArguments(
      name,
      kArguments,
      given,
    );
    const shape = typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.normalizedShape = shape;
    this.eps = eps;
    this.weight = elementwiseAffine ? parameterOf(name, ones, shape, kind) : null;
    this.bias = elementwiseAffine && bias ? parameterOf(name, zeros, shape, kind) : null;
  }

  /** Sets the factors to 1 and the offsets to 0. */
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
