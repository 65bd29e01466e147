import { readArguments } from "../../arguments/read.js";
import { boolean, type Options } from "../../arguments/rule.js";
import { add } from "../../generated/ops.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { attended, TransformerLayer } from "./transformer_layer.js";
import type { TransformerLayerOptions } from "./transformer_options.js";

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
export class TransformerEncoderLayer extends TransformerLayer {
  override forward(src: Tensor, ...given: EncoderArguments): Tensor {
    const call = readArguments("TransformerEncoderLayer", kCallOptions, given);
    const own = { mask: call.srcMask, padding: call.srcKeyPaddingMask, isCausal: call.isCausal };
    const attend = (x: Tensor) => this.dropout1.call(attended(this.self_attn, x, x, own));
    const transform = (x: Tensor) => this.transform(x, this.dropout2);
    return scope(() => {
      if (this.normFirst) {
        const seen = add(src, attend(this.norm1.call(src)));
        return add(seen, transform(this.norm2.call(seen)));
      }
      const seen = this.norm1.call(add(src, attend(src)));
      return this.norm2.call(add(seen, transform(seen)));
    });
  }
}
