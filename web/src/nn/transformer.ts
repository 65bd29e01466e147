import { add, gelu, relu } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import { namedArguments } from "../runtime/named_arguments.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { Dropout } from "./activations.js";
import { MultiheadAttention } from "./attention.js";
import { LayerNorm } from "./layer_norm.js";
import type { LayerOptions } from "./layer_options.js";
import { Linear } from "./linear.js";
import { Module } from "./module.js";

/** The function between the linear layers of a transformer's layer. */
export type TransformerActivation = "relu" | "gelu" | ((input: Tensor) => Tensor);

/** Options of `TransformerEncoderLayer`. */
export interface TransformerEncoderLayerOptions extends LayerOptions {
  /** The features between the two linear layers; default 2048. */
  dimFeedforward?: number;
  /** The probability of dropout; default 0.1. */
  dropout?: number;
  /** Default "relu". */
  activation?: TransformerActivation;
  /** Added to the variance in the normalisations; default 1e-5. */
  layerNormEps?: number;
  /** The batch is dimension 0 instead of 1; default false. */
  batchFirst?: boolean;
  /** Normalise before attention and linear layers instead of after; default false. */
  normFirst?: boolean;
  /** Add learned biases; default true. */
  bias?: boolean;
}

/** Options of a call of `TransformerEncoderLayer`. */
export interface EncoderOptions {
  /** Pairs of positions that do not count. */
  srcMask?: Tensor | null;
  /** Positions that do not count, per sequence. */
  srcKeyPaddingMask?: Tensor | null;
  /** Says that `srcMask` is the causal mask; default false. */
  isCausal?: boolean;
}

/** What a call takes besides the input: options by name, or all by position. */
export type EncoderArguments =
  | [options?: EncoderOptions]
  | [srcMask: Tensor | null, srcKeyPaddingMask?: Tensor | null, isCausal?: boolean];

const kNames = [
  "dimFeedforward",
  "dropout",
  "activation",
  "layerNormEps",
  "batchFirst",
  "normFirst",
  "bias",
] as const;

/** Self-attention and two linear layers, each added to its input and normalised. */
export class TransformerEncoderLayer extends Module {
  readonly self_attn: MultiheadAttention;
  readonly linear1: Linear;
  readonly dropout: Dropout;
  readonly linear2: Linear;
  readonly normFirst: boolean;
  readonly norm1: LayerNorm;
  readonly norm2: LayerNorm;
  readonly dropout1: Dropout;
  readonly dropout2: Dropout;
  readonly activation: (input: Tensor) => Tensor;

  constructor(dModel: number, nhead: number, options?: TransformerEncoderLayerOptions);
  constructor(
    dModel: number,
    nhead: number,
    dimFeedforward: number,
    dropout?: number,
    activation?: TransformerActivation,
    layerNormEps?: number,
    batchFirst?: boolean,
    normFirst?: boolean,
    bias?: boolean,
    options?: LayerOptions,
  );
  constructor(
    dModel: number,
    nhead: number,
    dimFeedforward: number,
    options: TransformerEncoderLayerOptions,
  );
  constructor(dModel: number, nhead: number, ...given: unknown[]) {
    super();
    const named = namedArguments<TransformerEncoderLayerOptions>(kNames, given);
    const { dimFeedforward = 2048, dropout = 0.1, layerNormEps: eps = 1e-5, bias = true } = named;
    const { activation = "relu", batchFirst = false, normFirst = false, dtype, device } = named;
    const kind = { bias, ...(dtype && { dtype }), ...(device && { device }) };
    this.self_attn = new MultiheadAttention(dModel, nhead, { dropout, batchFirst, ...kind });
    this.linear1 = new Linear(dModel, dimFeedforward, kind);
    this.dropout = new Dropout(dropout);
    this.linear2 = new Linear(dimFeedforward, dModel, kind);
    this.normFirst = normFirst;
    this.norm1 = new LayerNorm(dModel, { eps, ...kind });
    this.norm2 = new LayerNorm(dModel, { eps, ...kind });
    this.dropout1 = new Dropout(dropout);
    this.dropout2 = new Dropout(dropout);
    this.activation = activationOf(activation);
  }

  override forward(src: Tensor, ...given: EncoderArguments): Tensor {
    const names = ["srcMask", "srcKeyPaddingMask", "isCausal"] as const;
    const options = namedArguments<EncoderOptions>(names, given);
    return scope(() => {
      if (this.normFirst) {
        const seen = add(src, this.#attend(this.norm1.call(src), options));
        return add(seen, this.#transform(this.norm2.call(seen)));
      }
      const seen = this.norm1.call(add(src, this.#attend(src, options)));
      return this.norm2.call(add(seen, this.#transform(seen)));
    });
  }

  #attend(input: Tensor, options: EncoderOptions): Tensor {
    const { srcMask = null, srcKeyPaddingMask = null, isCausal = false } = options;
    const [output] = this.self_attn.call(input, input, input, {
      attnMask: srcMask,
      keyPaddingMask: srcKeyPaddingMask,
      needWeights: false,
      isCausal,
    });
    return this.dropout1.call(output);
  }

  #transform(input: Tensor): Tensor {
    const inner = this.dropout.call(this.activation(this.linear1.call(input)));
    return this.dropout2.call(this.linear2.call(inner));
  }
}

function activationOf(activation: TransformerActivation): (input: Tensor) => Tensor {
  if (typeof activation === "function") return activation;
  if (activation === "relu") return (input) => relu(input);
  if (activation === "gelu") return (input) => gelu(input);
  fail(
    "InvalidArgument",
    "TransformerEncoderLayer",
    `activation should be relu/gelu, not ${describe(activation)}.`,
  );
}
