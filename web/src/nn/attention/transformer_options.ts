// The options of the layers of a transformer.

import {
  boolean,
  count,
  either,
  functionOf,
  number,
  type Options,
  oneOf,
  size,
} from "../../arguments/rule.js";
import { gelu, relu } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments } from "../layer_options.js";

const kOptions = {
  /** The features between the two linear layers; default 2048. */
  dimFeedforward: size.or(2048),
  /** The probability of dropout; default 0.1. */
  dropout: number.or(0.1),
  /** The function between the linear layers; default "relu". */
  activation: either(oneOf("relu", "gelu"), functionOf<(input: Tensor) => Tensor>()).or("relu"),
  /** Added to the variance in the normalisations; default 1e-5. */
  layerNormEps: number.or(1e-5),
  /** The batch is dimension 0 instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** Normalise before attention and linear layers instead of after; default false. */
  normFirst: boolean.or(false),
  /** Add learned biases; default true. */
  bias: boolean.or(true),
  ...kLayerArguments,
};

/** The declaration of the arguments of a layer. */
export const kTransformerLayerArguments = { dModel: count, nhead: count, ...kOptions };

/** Options of the layers of a transformer. */
export type TransformerLayerOptions = Options<typeof kOptions & typeof kLayerArguments>;

/** The function between the linear layers of a transformer layer. */
export type TransformerActivation = typeof kOptions.activation.type;

/** Returns the function that an activation names. */
export function activationOf(activation: TransformerActivation): (input: Tensor) => Tensor {
  if (typeof activation === "function") return activation;
  return activation === "relu" ? (input) => relu(input) : (input) => gelu(input);
}
