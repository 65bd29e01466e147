import { readArguments } from "../../arguments/read.js";
import { boolean, number, type Options, oneOrMore, size } from "../../arguments/rule.js";
import { ones, rmsNorm } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ones_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

const kOptions = {
  /** Added to the mean square; default the machine epsilon of the dtype. */
  eps: number.orNull(),
  /** Learn a factor per element; default true. */
  elementwiseAffine: boolean.or(true),
  ...kLayerArguments,
};

const kArguments = { normalizedShape: oneOrMore(size), ...kOptions };

/** Options of `RMSNorm`. */
export type RMSNormOptions = Options<typeof kOptions & typeof kLayerArguments>;

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
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { normalizedShape, eps, elementwiseAffine, ...kind } = readArguments(
      name,
      kArguments,
      given,
    );
    this.normalizedShape =
      typeof normalizedShape === "number" ? [normalizedShape] : normalizedShape;
    this.eps = eps;
    this.weight = elementwiseAffine ? parameterOf(name, ones, this.normalizedShape, kind) : null;
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
