import { readArguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { add } from "../../generated/ops.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Dropout } from "../dropout/dropout.js";
import type { LayerOptions } from "../layer_options.js";
import { Linear } from "../linear/linear.js";
import { Module } from "../module.js";
import { LayerNorm } from "../norm/layer_norm.js";
import { MultiheadAttention } from "./attention.js";
import {
  type Activation,
  activated,
  activationOf,
  kTransformerLayerArguments,
  type TransformerActivation,
  type TransformerLayerOptions,
} from "./transformer_options.js";

/** Options of `TransformerEncoderLayer`. */
export type TransformerEncoderLayerOptions = TransformerLayerOptions;

const kCallOptions = {
  /** Pairs of positions to ignore. */
  srcMask: tensorRule.orNull(),
  /** Positions to ignore, per sequence. */
  srcKeyPaddingMask: tensorRule.orNull(),
  /** Declares that `srcMask` is the causal mask; default false. */
  isCausal: boolean.or(false),
};

/** Options of a call of `TransformerEncoderLayer`. */
export type EncoderOptions = Options<typeof kCallOptions>;

/** What a call takes besides the input: options by name, or all by position. */
export type EncoderArguments =
  | [options?: EncoderOptions]
  | [srcMask: Tensor | null, srcKeyPaddingMask?: Tensor | null, isCausal?: boolean];

/** Self-attention and two linear layers, each added to its input and normalized. */
export class TransformerEncoderLayer extends Module {
  self_attn: MultiheadAttention;
  linear1: Linear;
  dropout: Dropout;
  linear2: Linear;
  readonly normFirst: boolean;
  norm1: LayerNorm;
  norm2: LayerNorm;
  dropout1: Dropout;
  dropout2: Dropout;
  readonly activation: Activation;

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
    options: TransformerLayerOptions,
  );
  constructor(dModel: number, nhead: number, options?: TransformerLayerOptions);
  constructor(...given: unknown[]) {
    super();
    const own = readArguments(new.target.name, kTransformerLayerArguments, given);
    const { dModel, nhead, dimFeedforward, dropout, layerNormEps: eps, batchFirst } = own;
    const kind = { bias: own.bias, device: own.device, dtype: own.dtype };
    this.self_attn = new MultiheadAttention(dModel, nhead, { dropout, batchFirst, ...kind });
    this.linear1 = new Linear(dModel, dimFeedforward, kind);
    this.dropout = new Dropout(dropout);
    this.linear2 = new Linear(dimFeedforward, dModel, kind);
    this.normFirst = own.normFirst;
    this.norm1 = new LayerNorm(dModel, { eps, ...kind });
    this.norm2 = new LayerNorm(dModel, { eps, ...kind });
    this.dropout1 = new Dropout(dropout);
    this.dropout2 = new Dropout(dropout);
    this.activation = activationOf(own.activation);
  }

  override forward(src: Tensor, ...given: EncoderArguments): Tensor {
    const options = readArguments("TransformerEncoderLayer", kCallOptions, given);
    return scope(() => {
      if (this.normFirst) {
        const seen = add(src, this.attend(this.norm1.call(src), options));
        return add(seen, this.transform(this.norm2.call(seen)));
      }
      const seen = this.norm1.call(add(src, this.attend(src, options)));
      return this.norm2.call(add(seen, this.transform(seen)));
    });
  }

  private attend(input: Tensor, options: EncoderOptions): Tensor {
    const { srcMask = null, srcKeyPaddingMask = null, isCausal = false } = options;
    const [output] = this.self_attn.call(input, input, input, {
      attnMask: srcMask,
      keyPaddingMask: srcKeyPaddingMask,
      needWeights: false,
      isCausal,
    });
    return this.dropout1.call(output);
  }

  private transform(input: Tensor): Tensor {
    const inner = this.dropout.call(activated(this.activation, this.linear1.call(input)));
    return this.dropout2.call(this.linear2.call(inner));
  }
}
