// Checks of the inputs of models.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { KeyValueCache } from "../blocks/cache.js";
import type { Pass } from "../blocks/pass.js";
import { checkOptions, kCount, kFlag, type OptionRule, orNull } from "../options.js";

/** A tensor, or null. */
export const kTensor: OptionRule = orNull({
  expected: "a tensor",
  accepts: (value) => value instanceof eg.Tensor,
});

/** Options of an encoder of texts. */
export interface EncoderOptions {
  /** 0 for padding, 1 for the other tokens: [batch, tokens], including those of a cache. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The position of each token: [batch, tokens]; default: consecutive positions, also in rows with padding. */
  readonly positionIds?: eg.Tensor | null | undefined;
  /** The segment (0 or 1) of each token in a pair of texts: [batch, tokens]. */
  readonly tokenTypeIds?: eg.Tensor | null | undefined;
}

/** Options of a language model without its head. */
export interface DecoderOptions extends EncoderOptions {
  /** One more than the largest of positionIds, which some rotary scalings need. */
  readonly positions?: number | null | undefined;
  /**
   * The text that each token belongs to, for several texts in one row: [batch, tokens]. Tokens attend to those of their own text only; positionIds begin again with
   * each text.
   */
  readonly sequenceIds?: eg.Tensor | null | undefined;
  /** The cache of earlier tokens. */
  readonly pastKeyValues?: KeyValueCache | null | undefined;
  /** Return a cache of the tokens; default false. */
  readonly useCache?: boolean | undefined;
}

/** Options of a language model. */
export interface CausalOptions extends DecoderOptions {
  /** The tokens themselves, which the model is to predict from those before; -100 excludes a token from the loss. */
  readonly labels?: eg.Tensor | null | undefined;
  /** Compute logits for that many last tokens; default: all. */
  readonly logitsToKeep?: number | null | undefined;
}

/** Options of a language model that predicts masked tokens. */
export interface MaskedOptions extends EncoderOptions {
  /** The token at each masked position, and -100 for all others: [batch, tokens]. */
  readonly labels?: eg.Tensor | null | undefined;
}

/** Options of a model that classifies texts. */
export interface TextClassifierOptions extends EncoderOptions {
  /**
   * The class of each text; if a text can have several, 0 or 1 for each class. For classes of tokens: the class of each token, [batch, tokens], and -100 for
   * those that do not count.
   */
  readonly labels?: eg.Tensor | null | undefined;
}

/** Options of a model that finds answers in texts. */
export interface AnswerOptions extends EncoderOptions {
  /** The first token of the answer in each text: [batch]; beyond the last token for none. */
  readonly startPositions?: eg.Tensor | null | undefined;
  /** The last token of the answer in each text: [batch]; beyond the last token for none. */
  readonly endPositions?: eg.Tensor | null | undefined;
}

/** Options of a model that classifies images. */
export interface ImageOptions {
  /** The class of each image. */
  readonly labels?: eg.Tensor | null | undefined;
}

const kEncoder = { attentionMask: kTensor, positionIds: kTensor, tokenTypeIds: kTensor };
/** The rules for the options of a language model without its head. */
export const kDecoder = {
  ...kEncoder,
  positions: orNull(kCount),
  sequenceIds: kTensor,
  pastKeyValues: orNull({
    expected: "a KeyValueCache",
    accepts: (value) => value instanceof KeyValueCache,
  }),
  useCache: kFlag,
};
/** The rules for the options of a language model. */
export const kCausal = { ...kDecoder, labels: kTensor, logitsToKeep: orNull(kCount) };
const kLabeledText = { ...kEncoder, labels: kTensor };
const kAnswer = { ...kEncoder, startPositions: kTensor, endPositions: kTensor };
const kImage = { labels: kTensor };

/** Returns a function that checks token numbers and options by rules, and returns the options. */
export function readerOf<Read>(rules: Readonly<Record<string, OptionRule>>) {
  return (where: string, ids: unknown, given: unknown = {}): Read => {
    checkIds(where, ids);
    checkOptions(where, given, rules);
    return given as Read;
  };
}

/** Checks the arguments of an encoder of texts, and returns the options. */
export const encoderOptions = /* @__PURE__ */ readerOf<EncoderOptions>(kEncoder);

/** Checks the arguments of a language model without its head, and returns the options. */
export const decoderOptions = /* @__PURE__ */ readerOf<DecoderOptions>(kDecoder);

/** Checks the arguments of a language model, and returns the options. */
export const causalOptions = /* @__PURE__ */ readerOf<CausalOptions>(kCausal);

/** Checks the arguments of a text classifier, and returns the options. */
export const classifierOptions = /* @__PURE__ */ readerOf<TextClassifierOptions>(kLabeledText);

/** Checks the arguments of a model that predicts masked tokens, and returns the options. */
export const maskedOptions = /* @__PURE__ */ readerOf<MaskedOptions>(kLabeledText);

/** Checks the arguments of a model that finds answers, and returns the options. */
export const answerOptions = /* @__PURE__ */ readerOf<AnswerOptions>(kAnswer);

/** Checks the arguments of an image classifier, and returns the options. */
export function imageOptions(where: string, pixels: unknown, given: unknown = {}): ImageOptions {
  checkPixels(where, pixels);
  checkOptions(where, given, kImage);
  return given as ImageOptions;
}

/** Throws unless `pixels` are numbers: [batch, channels, height, width]. */
export function checkPixels(where: string, pixels: unknown): asserts pixels is eg.Tensor {
  if (!(pixels instanceof eg.Tensor) || pixels.ndim !== 4 || !/float/.test(pixels.dtype)) {
    const got =
      pixels instanceof eg.Tensor ? `${pixels.dtype} [${pixels.shape}]` : describe(pixels);
    fail("ShapeMismatch", where, `expected numbers [batch, channels, height, width], got ${got}.`);
  }
}

/** Throws unless `ids` are token IDs: [batch, tokens]. */
export function checkIds(where: string, ids: unknown): asserts ids is eg.Tensor {
  if (!(ids instanceof eg.Tensor)) {
    fail("InvalidArgument", where, `expected a tensor of token numbers, got ${describe(ids)}.`);
  }
  if (!/^u?int/.test(ids.dtype)) {
    fail("DtypeMismatch", where, `expected token numbers as int64, got ${ids.dtype}.`);
  }
  if (ids.ndim !== 2 || ids.numel === 0) {
    const got = `[${ids.shape.join(", ")}]`;
    const advice = "For one text, use ids.unsqueeze(0).";
    fail("ShapeMismatch", where, `expected [batch, tokens], got ${got}. ${advice}`);
  }
}

/** Throws if a pass has more positions than a model has embeddings for. */
export function checkPositions(where: string, { positions }: Pass, most: number): void {
  if (positions <= most) return;
  const message = `${positions} tokens are more than the ${most} positions of the model.`;
  fail("InvalidArgument", where, message);
}

/** Throws for options to a model that has none. */
export function checkNothing(where: string, rest: readonly unknown[]): void {
  if (rest.length > 0) checkOptions(where, rest[0] ?? {}, {});
}
