import { readArguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { add } from "../../generated/ops.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Dropout } from "../dropout/dropout.js";
import type { LayerNorm } from "../norm/layer_norm.js";
import type { MultiheadAttention } from "./attention.js";
import { attended, TransformerLayer } from "./transformer_layer.js";

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

/** Self-attention, attention to a memory and two linear layers, each added to its input and normalized. */
export class TransformerDecoderLayer extends TransformerLayer {
  declare multihead_attn: MultiheadAttention;
  declare norm3: LayerNorm;
  declare dropout3: Dropout;

  protected override get attentions(): readonly string[] {
    return ["self_attn", "multihead_attn"];
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
    const transform = (x: Tensor) => this.transform(x, this.dropout3);
    return scope(() => {
      if (this.normFirst) {
        const seen = add(tgt, attend(this.norm1.call(tgt)));
        const recalled = add(seen, remember(this.norm2.call(seen)));
        return add(recalled, transform(this.norm3.call(recalled)));
      }
      const seen = this.norm1.call(add(tgt, attend(tgt)));
      const recalled = this.norm2.call(add(seen, remember(seen)));
      return this.norm3.call(add(recalled, transform(recalled)));
    });
  }
}
