// Causal language models, which predict the next token.

import * as eg from "edgegrad";
import { KeyValueCache } from "../blocks/cache.js";
import { Pass, type PassOptions } from "../blocks/pass.js";
import { generateFrom } from "../generation/generate.js";
import type { GenerateOptions } from "../generation/options.js";
import { type FeaturesOutput, type ModelOutput, PreTrainedModel } from "../model.js";
import {
  type CausalOptions,
  causalOptions,
  type DecoderOptions,
  decoderOptions,
} from "./inputs.js";
import { checkpointedNextTokenLoss, nextTokenLoss, withNextTokenLoss } from "./losses.js";

/** What a language model without its head returns. */
export interface DecoderOutput extends FeaturesOutput {
  /** The cache, with `useCache`. */
  readonly pastKeyValues?: KeyValueCache;
}

/** What a language model returns. */
export interface CausalOutput extends ModelOutput {
  /** The scores of the next token: [batch, tokens, vocabulary]. */
  readonly logits: eg.Tensor;
  /** The hidden states that the head reads: [batch, tokens, size]. */
  readonly lastHiddenState: eg.Tensor;
  /** The cache, with `useCache`. */
  readonly pastKeyValues?: KeyValueCache;
}

/** The options of a language model without its head, and what a pass needs besides. */
export type ReadDecoderOptions = DecoderOptions & Pick<PassOptions, "blockIds">;

/** A language model without its head. */
export abstract class TextDecoder extends PreTrainedModel {
  /** Recompute the activations of each layer, and the scores of the head, in backward instead of keeping them. */
  gradientCheckpointing = false;

  /** Returns the embeddings of tokens. */
  protected abstract embed(ids: eg.Tensor, options: DecoderOptions): eg.Tensor;

  /** Computes the last hidden states from the embeddings. */
  protected abstract run(embedded: eg.Tensor, pass: Pass, options: DecoderOptions): eg.Tensor;

  /** Checks the inputs, and returns the options; some models add which tokens attend to each other. */
  protected read(ids: eg.Tensor, given?: DecoderOptions): ReadDecoderOptions {
    return decoderOptions(this.constructor.name, ids, given);
  }

  /** Computes the hidden states of the last layer. */
  override forward(ids: eg.Tensor, given?: DecoderOptions): DecoderOutput {
    const options = this.read(ids, given);
    const { pastKeyValues, useCache = false } = options;
    const cache = pastKeyValues ?? (useCache ? new KeyValueCache() : null);
    const embedded = this.embed(ids, options);
    const pass = new Pass({ ids, like: embedded, isCausal: true, cache, ...options });
    const lastHiddenState = this.run(embedded, pass, options);
    return { lastHiddenState, ...(cache && { pastKeyValues: cache }) };
  }
}

/** A language model that predicts the next token. */
export abstract class CausalLanguageModel extends PreTrainedModel {
  /** The layers without the head. */
  protected abstract get decoder(): TextDecoder;

  /** Returns the scores of tokens for hidden states. */
  protected abstract scores(hidden: eg.Tensor): eg.Tensor;

  /** Checks the inputs, and returns the options. */
  protected read(ids: eg.Tensor, given?: CausalOptions): CausalOptions {
    return causalOptions(this.constructor.name, ids, given);
  }

  /** Computes the scores of each next token, and the loss if labels are given. */
  override forward(ids: eg.Tensor, given?: CausalOptions): CausalOutput {
    const { labels, logitsToKeep, ...options } = this.read(ids, given);
    const output = this.decoder.call(ids, options);
    const { lastHiddenState: hidden } = output;
    const tokens = hidden.shape[1] as number;
    const kept = Math.min(logitsToKeep ?? tokens, tokens);
    const isTrained = labels && kept === tokens && this.training && eg.isGradEnabled();
    if (isTrained && this.decoder.gradientCheckpointing) {
      const scores = (states: eg.Tensor) => this.scores(states);
      const loss = checkpointedNextTokenLoss(hidden, labels, scores);
      const whole = {
        ...output,
        // A getter, so that all scores take memory only if they are read.
        get logits() {
          return scores(hidden);
        },
      };
      return withNextTokenLoss(whole, labels, loss);
    }
    const logits = this.scores(kept < tokens ? hidden.narrow(1, tokens - kept, kept) : hidden);
    if (!labels) return { ...output, logits };
    return withNextTokenLoss({ ...output, logits }, labels, nextTokenLoss(logits, labels));
  }

  /**
   * Continues texts: resolves to the given and the generated tokens, [batch, tokens]. Rows that end early are padded.
   */
  generate(ids: eg.Tensor, options?: GenerateOptions): Promise<eg.Tensor> {
    return generateFrom(this, ids, options ?? {}, (input, step) => {
      return this.call(input, { ...step, logitsToKeep: 1 }).logits;
    });
  }
}
