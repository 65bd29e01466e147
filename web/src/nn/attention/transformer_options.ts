// The options of the layers of a transformer.

import {
  boolean,
  count,
  either,
  functionOf,
  number,
  type Options,
  oneOf,
  Rule,
  size,
} from "../../arguments/rule.js";
import { gelu, relu } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Layer } from "../layer.js";
import { kLayerArguments } from "../layer_options.js";
import { Module } from "../module.js";

const kNamed = oneOf("relu", "gelu");
const kFunction = functionOf<(input: Tensor) => Tensor>();
const kLayer = /* @__PURE__ */ new Rule<Layer>("a layer", (value) => value instanceof Module);

const kOptions = {
  /** The features between the two linear layers; default 2048. */
  dimFeedforward: size.or(2048),
  /** The probability of dropout; default 0.1. */
  dropout: number.or(0.1),
  /** The function or layer between the linear layers; default "relu". */
  activation: either(either(kNamed, kFunction), kLayer).or("relu"),
  /** Added to the variance in the normalizations; default 1e-5. */
  layerNormEps: number.or(1e-5),
  /** The batch is dimension 0 instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** Normalize before attention and linear layers instead of after; default false. */
  normFirst: boolean.or(false),
  /** Add learned biases; default true. */
  bias: boolean.or(true),
  ...kLayerArguments,
};

/** The declaration of the arguments of a layer. */
export const kTransformerLayerArguments = { dModel: count, nhead: count, ...kOptions };

/** Options of the layers of a transformer. */
export type TransformerLayerOptions = Options<typeof kOptions & typeof kLayerArguments>;

/** The function or layer between the linear layers of a transformer layer. */
export type TransformerActivation = typeof kOptions.activation.type;

/** A function that is applied between linear layers, or a layer. */
export type Activation = Exclude<TransformerActivation, string>;

/** Returns the function that an activation names; a function or layer itself. */
export function activationOf(activation: TransformerActivation): Activation {
  if (typeof activation !== "string") return activation;
  return activation === "relu" ? (input) => relu(input) : (input) => gelu(input);
}

/** Applies an activation. */
export function activated(activation: Activation, input: Tensor): Tensor {
  return activation instanceof Module ? activation.call(input) : activation(input);
}
