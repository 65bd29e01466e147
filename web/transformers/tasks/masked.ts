// Bidirectional language models, which predict masked tokens.

import type * as eg from "edgegrad";
import { type FeaturesOutput, type ModelOutput, PreTrainedModel } from "../model.js";
import { type EncoderOptions, type MaskedOptions, maskedOptions } from "./inputs.js";
import { countOf, hiddenTokenLoss, withLoss } from "./losses.js";

/** What a language model that predicts masked tokens returns. */
export interface MaskedOutput extends ModelOutput {
  /** The scores of the token at each position: [batch, tokens, vocabulary]. */
  readonly logits: eg.Tensor;
  /** The hidden states that the head reads: [batch, tokens, size]. */
  readonly lastHiddenState: eg.Tensor;
}

/** A bidirectional encoder. */
export type EncoderModel = PreTrainedModel & {
  forward(ids: eg.Tensor, options?: EncoderOptions): FeaturesOutput;
};

/** A language model that predicts masked tokens. */
export abstract class MaskedLanguageModel extends PreTrainedModel {
  /** The layers without the head. */
  protected abstract get encoder(): EncoderModel;

  /** Returns the scores of tokens for hidden states. */
  protected abstract scores(hidden: eg.Tensor): eg.Tensor;

  /** Computes the scores of the token at each position, and the loss if labels are given. */
  override forward(ids: eg.Tensor, given?: MaskedOptions): MaskedOutput {
    const { labels, ...options } = maskedOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.encoder.call(ids, options);
    const logits = this.scores(lastHiddenState);
    const output = { lastHiddenState, logits };
    if (!labels) return output;
    return withLoss(output, hiddenTokenLoss(logits, labels), () => countOf(labels));
  }
}
