// The inputs that models take.

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

/** Options of the layers of a model for texts. */
export interface EncoderOptions {
  /** Not 0 for the tokens that count, and 0 for padding: [batch, tokens], those of a cache included. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The place of each token: [batch, tokens]; default: one after the other, also in rows with padding. */
  readonly positionIds?: eg.Tensor | null | undefined;
  /** Which of two texts each token belongs to: [batch, tokens]. */
  readonly tokenTypeIds?: eg.Tensor | null | undefined;
}

/** Options of the layers of a language model. */
export interface DecoderOptions extends EncoderOptions {
  /** One more than the largest of positionIds, which some ways to stretch positions need. */
  readonly positions?: number | null | undefined;
  /** The tokens that have been read before. */
  readonly pastKeyValues?: KeyValueCache | null | undefined;
  /** Return a cache of the tokens; default false. */
  readonly useCache?: boolean | undefined;
}

/** Options of a language model. */
export interface CausalOptions extends DecoderOptions {
  /** The tokens themselves, or -100 where they do not count; the model is to predict each from those before. */
  readonly labels?: eg.Tensor | null | undefined;
  /** Compute logits for that many last tokens; default: all. */
  readonly logitsToKeep?: number | null | undefined;
}

/** Options of a language model that predicts hidden tokens. */
export interface MaskedOptions extends EncoderOptions {
  /** The token of each hidden place, and -100 for all others: [batch, tokens]. */
  readonly labels?: eg.Tensor | null | undefined;
}

/** Options of a model that puts texts into classes. */
export interface TextClassifierOptions extends EncoderOptions {
  /** The class of each text; for several at once, 0 or 1 for each class. */
  readonly labels?: eg.Tensor | null | undefined;
}

/** Options of a model that puts images into classes. */
export interface ImageOptions {
  /** The class of each image. */
  readonly labels?: eg.Tensor | null | undefined;
}

const kEncoder = { attentionMask: kTensor, positionIds: kTensor, tokenTypeIds: kTensor };
const kDecoder = {
  ...kEncoder,
  positions: orNull(kCount),
  pastKeyValues: orNull({
    expected: "a KeyValueCache",
    accepts: (value) => value instanceof KeyValueCache,
  }),
  useCache: kFlag,
};
const kCausal = { ...kDecoder, labels: kTensor, logitsToKeep: orNull(kCount) };
const kLabelledText = { ...kEncoder, labels: kTensor };
const kImage = { labels: kTensor };

function readerOf<Read>(rules: Readonly<Record<string, OptionRule>>) {
  return (where: string, ids: unknown, given: unknown = {}): Read => {
    checkIds(where, ids);
    checkOptions(where, given, rules);
    return given as Read;
  };
}

/** Checks what the layers of a model for texts are called with, and returns the options. */
export const encoderOptions = /* @__PURE__ */ readerOf<EncoderOptions>(kEncoder);

/** Checks what the layers of a language model are called with, and returns the options. */
export const decoderOptions = /* @__PURE__ */ readerOf<DecoderOptions>(kDecoder);

/** Checks what a language model is called with, and returns the options. */
export const causalOptions = /* @__PURE__ */ readerOf<CausalOptions>(kCausal);

/** Checks what a classifier of texts is called with, and returns the options. */
export const classifierOptions = /* @__PURE__ */ readerOf<TextClassifierOptions>(kLabelledText);

/** Checks what a model that predicts hidden tokens is called with, and returns the options. */
export const maskedOptions = /* @__PURE__ */ readerOf<MaskedOptions>(kLabelledText);

/** Checks what a classifier of images is called with, and returns the options. */
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

/** Throws unless `ids` are numbers of tokens: [batch, tokens]. */
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

/** Throws if a pass has more positions than a model has vectors for. */
export function checkPositions(where: string, { positions }: Pass, most: number): void {
  if (positions <= most) return;
  const message = `${positions} tokens are more than the ${most} positions of the model.`;
  fail("InvalidArgument", where, message);
}

/** Throws for options of a model that has none. */
export function checkNothing(where: string, rest: readonly unknown[]): void {
  if (rest.length > 0) checkOptions(where, rest[0] ?? {}, {});
}
