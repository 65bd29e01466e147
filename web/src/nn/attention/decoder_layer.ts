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

/** The declaration of the masks that a decoder is called with. */
export const kDecoderMasks = {
  /** Pairs of target positions to ignore. */
  tgtMask: tensorRule.orNull(),
  /** Pairs of target and memory positions to ignore. */
  memoryMask: tensorRule.orNull(),
  /** Target positions to ignore, per sequence. */
  tgtKeyPaddingMask: tensorRule.orNull(),
  /** Memory positions to ignore, per sequence. */
  memoryKeyPaddingMask: tensorRule.orNull(),
};

const kCallOptions = {
  ...kDecoderMasks,
  /** Declares that `tgtMask` is the causal mask; default false. */
  tgtIsCausal: boolean.or(false),
  /** Declares that `memoryMask` is the causal mask; default false. */
  memoryIsCausal: boolean.or(false),
};

/** Options of a call of `TransformerDecoderLayer`. */
export type DecoderLayerOptions = Options<typeof kCallOptions>;

/** What a call takes besides target and memory: options by name, or all by position. */
export type DecoderLayerArguments =
  | [options?: DecoderLayerOptions]
  | [
      tgtMask: Tensor | null,
      memoryMask?: Tensor | null,
      tgtKeyPaddingMask?: Tensor | null,
      memoryKeyPaddingMask?: Tensor | null,
      tgtIsCausal?: boolean,
      memoryIsCausal?: boolean,
    ];

interface Masks {
  readonly mask: Tensor | null;
  readonly padding: Tensor | null;
  readonly isCausal: boolean;
}

/** Self-attention, attention to a memory and two linear layers, each added to its input and normalized. */
export class TransformerDecoderLayer extends Module {
  self_attn: MultiheadAttention;
  multihead_attn: MultiheadAttention;
  linear1: Linear;
  dropout: Dropout;
  linear2: Linear;
  readonly normFirst: boolean;
  norm1: LayerNorm;
  norm2: LayerNorm;
  norm3: LayerNorm;
  dropout1: Dropout;
  dropout2: Dropout;
  dropout3: Dropout;
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
    this.multihead_attn = new MultiheadAttention(dModel, nhead, { dropout, batchFirst, ...kind });
    this.linear1 = new Linear(dModel, dimFeedforward, kind);
    this.dropout = new Dropout(dropout);
    this.linear2 = new Linear(dimFeedforward, dModel, kind);
    this.normFirst = own.normFirst;
    this.norm1 = new LayerNorm(dModel, { eps, ...kind });
    this.norm2 = new LayerNorm(dModel, { eps, ...kind });
    this.norm3 = new LayerNorm(dModel, { eps, ...kind });
    this.dropout1 = new Dropout(dropout);
    this.dropout2 = new Dropout(dropout);
    this.dropout3 = new Dropout(dropout);
    this.activation = activationOf(own.activation);
  }

  override forward(tgt: Tensor, memory: Tensor, ...given: DecoderLayerArguments): Tensor {
    const call = readArguments("TransformerDecoderLayer", kCallOptions, given);
    const own = { mask: call.tgtMask, padding: call.tgtKeyPaddingMask, isCausal: call.tgtIsCausal };
    const other = {
      mask: call.memoryMask,
      padding: call.memoryKeyPaddingMask,
      isCausal: call.memoryIsCausal,
    };
    const attend = (x: Tensor) => this.dropout1.call(attended(this.self_attn, x, x, own));
    const remember = (x: Tensor) =>
      this.dropout2.call(attended(this.multihead_attn, x, memory, other));
    return scope(() => {
      if (this.normFirst) {
        const seen = add(tgt, attend(this.norm1.call(tgt)));
        const recalled = add(seen, remember(this.norm2.call(seen)));
        return add(recalled, this.transform(this.norm3.call(recalled)));
      }
      const seen = this.norm1.call(add(tgt, attend(tgt)));
      const recalled = this.norm2.call(add(seen, remember(seen)));
      return this.norm3.call(add(recalled, this.transform(recalled)));
    });
  }

  private transform(input: Tensor): Tensor {
    const inner = this.dropout.call(activated(this.activation, this.linear1.call(input)));
    return this.dropout3.call(this.linear2.call(inner));
  }
}

function attended(
  attention: MultiheadAttention,
  query: Tensor,
  memory: Tensor,
  { mask, padding, isCausal }: Masks,
): Tensor {
  const options = { attnMask: mask, keyPaddingMask: padding, needWeights: false, isCausal };
  return attention.call(query, memory, memory, options)[0];
}
