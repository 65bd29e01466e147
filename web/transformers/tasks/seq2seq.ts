// Encoder-decoder models: a decoder generates text while attending to the encoder's output.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { KeyValueCache } from "../blocks/cache.js";
import { CrossCache, type CrossSource, crossMask } from "../blocks/cross.js";
import { Pass } from "../blocks/pass.js";
import { generateFrom } from "../generation/generate.js";
import type { GenerateOptions } from "../generation/options.js";
import { type ModelOutput, PreTrainedModel } from "../model.js";
import { checkOptions } from "../options.js";
import { checkIds, kTensor } from "./inputs.js";
import { countOf, withLoss } from "./losses.js";

/** Options of encoder-decoder models. */
export interface Seq2SeqOptions {
  /** 0 for padding of the input, and not 0 for all other tokens. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The tokens of the decoder; default: the labels, shifted by one position. */
  readonly decoderInputIds?: eg.Tensor | null | undefined;
  /** 0 for padding of the decoder's tokens, and not 0 for all others. */
  readonly decoderAttentionMask?: eg.Tensor | null | undefined;
  /** The target tokens; -100 excludes a token from the loss. */
  readonly labels?: eg.Tensor | null | undefined;
}

/** What these models return. */
export interface Seq2SeqOutput extends ModelOutput {
  /** The scores of each token: [batch, tokens, vocabulary]. */
  readonly logits: eg.Tensor;
  /** The last hidden states of the encoder: [batch, tokens, size]. */
  readonly encoderLastHiddenState: eg.Tensor;
}

/** Options of `generate` of these models. */
export interface Seq2SeqGenerateOptions extends GenerateOptions {
  /** The initial tokens of the texts: [batch, tokens]; default: the start token of the model's files. */
  readonly decoderInputIds?: eg.Tensor | null | undefined;
}

const kOptions = {
  attentionMask: kTensor,
  decoderInputIds: kTensor,
  decoderAttentionMask: kTensor,
  labels: kTensor,
};

/** What a decoder gets besides the tokens and the output of the encoder. */
export interface DecodeOptions {
  readonly cache: KeyValueCache | null;
  readonly attentionMask: eg.Tensor | null;
  /** Whether only the scores of the last token are needed. */
  readonly isLast: boolean;
}

/** Returns hidden states; only those of the last token if `isLast`. */
export function lastIfAsked(hidden: eg.Tensor, { isLast }: DecodeOptions): eg.Tensor {
  return isLast ? hidden.narrow(1, (hidden.shape[1] as number) - 1, 1) : hidden;
}

/** An encoder-decoder model. */
export abstract class Seq2SeqModel extends PreTrainedModel {
  /** Throws if the encoder does not accept an input. */
  protected abstract checkInput(input: unknown): asserts input is eg.Tensor;

  /** Returns the output of the encoder. */
  protected abstract encode(input: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor;

  /** Returns the scores of tokens; only those of the last token if `isLast`. */
  protected abstract decode(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor;

  /** Encodes `input`, and computes the scores of the text. */
  override forward(input: eg.Tensor, given: Seq2SeqOptions = {}): Seq2SeqOutput {
    const where = this.constructor.name;
    this.checkInput(input);
    checkOptions(where, given, kOptions);
    const { attentionMask = null, labels, decoderAttentionMask = null } = given;
    const ids = given.decoderInputIds ?? (labels && this.movedOn(labels));
    if (!ids) fail("InvalidArgument", where, "expected decoderInputIds or labels.");
    checkIds(where, ids);
    const hidden = this.encode(input, attentionMask);
    const source = { hidden, mask: this.maskOf(attentionMask, hidden), cache: null };
    const rest = { cache: null, attentionMask: decoderAttentionMask, isLast: false };
    const logits = this.decode(ids, source, rest);
    const words = logits.shape.at(-1) as number;
    const output = { logits, encoderLastHiddenState: hidden };
    if (!labels) return output;
    const wanted = labels.reshape([-1]).to("int64");
    const loss = eg.crossEntropy(logits.reshape([-1, words]).float(), wanted);
    return withLoss(output, loss, () => countOf(wanted));
  }

  /** Generates a text for an input: resolves to its tokens, [batch, tokens], including the initial ones. */
  async generate(input: eg.Tensor, options: Seq2SeqGenerateOptions = {}): Promise<eg.Tensor> {
    this.checkInput(input);
    const { attentionMask = null, decoderInputIds, ...rest } = options;
    if (rest.pastKeyValues) {
      const message =
        "pastKeyValues: a decoder that reads an input begins with a cache of its own.";
      fail("InvalidArgument", "generate", message);
    }
    const start = decoderInputIds ?? this.startTokens(input.shape[0] as number, input.device);
    const crosses = new CrossCache();
    let source: CrossSource | null = null;
    try {
      return await generateFrom(this, start, rest, (ids, { pastKeyValues: cache }) => {
        source ??= this.repeatedSource(input, attentionMask, crosses, ids.shape[0] as number);
        return this.decode(ids, source, { cache, attentionMask: null, isLast: true });
      });
    } finally {
      crosses.dispose();
      const { hidden, mask } = (source ?? {}) as Partial<CrossSource>;
      hidden?.dispose();
      mask?.dispose();
      if (start !== decoderInputIds) start.dispose();
    }
  }

  /** Returns which hidden states of the encoder the decoder may see; default: one for each place of the input. */
  protected seenBy(attentionMask: eg.Tensor, _hidden: eg.Tensor): eg.Tensor {
    return attentionMask;
  }

  private maskOf(attentionMask: eg.Tensor | null, hidden: eg.Tensor): eg.Tensor | null {
    return crossMask(attentionMask && this.seenBy(attentionMask, hidden), hidden.dtype);
  }

  // With several texts per input, the output of the encoder is repeated for them.
  private repeatedSource(
    input: eg.Tensor,
    attentionMask: eg.Tensor | null,
    cache: CrossCache,
    rows: number,
  ): CrossSource {
    const copies = rows / (input.shape[0] as number);
    const repeated = (tensor: eg.Tensor) =>
      copies === 1 ? tensor : tensor.repeatInterleave(copies, 0);
    const hidden = this.encode(input, attentionMask);
    const mask = this.maskOf(attentionMask, hidden);
    return { hidden: eg.keep(repeated(hidden)), mask: mask && eg.keep(repeated(mask)), cache };
  }

  protected get firstToken(): number {
    const { generationConfig, config } = this;
    const first = generationConfig.decoder_start_token_id ?? config.decoder_start_token_id;
    if (Number.isSafeInteger(first)) return first as number;
    return fail(
      "InvalidArgument",
      this.constructor.name,
      "the model's files have no decoder_start_token_id: pass decoderInputIds.",
    );
  }

  protected startTokens(batch: number, device: eg.Device): eg.Tensor {
    return eg.full([batch, 1], this.firstToken, { dtype: "int64", device });
  }

  // The labels, shifted right: the token before each label.
  private movedOn(labels: eg.Tensor): eg.Tensor {
    const [batch, tokens] = labels.shape as [number, number];
    const padding = Number(this.config.pad_token_id ?? 0);
    const before = labels.narrow(1, 0, tokens - 1).to("int64");
    const start = this.startTokens(batch, labels.device);
    return eg.cat([start, before.maskedFill(before.eq(-100), padding)], 1);
  }
}

/** Creates the pass of a decoder. */
export function decoderPass(
  ids: eg.Tensor,
  like: eg.Tensor,
  rest: { readonly cache: KeyValueCache | null; readonly attentionMask: eg.Tensor | null },
): Pass {
  return new Pass({ ids, like, isCausal: true, ...rest });
}
