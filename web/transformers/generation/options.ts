// The options of generate().

import * as eg from "edgegrad";
import { kCount, kFlag, kPositive, kShare, kWhole, type OptionRule, orNull } from "../options.js";
import { kTensor } from "../tasks/inputs.js";

/** Receives tokens while they are generated. The first call has the given tokens of each text, and each further call one token per text. */
export interface Streamer {
  /** Receives the next tokens of each text of the batch. */
  put(tokens: readonly (readonly number[])[]): void;
  /** Called when all texts are complete. */
  end?(): void;
}

/** The part of AbortSignal that is used. */
export interface AbortSignalLike {
  /** Whether the signal is aborted. */
  readonly aborted: boolean;
  /** Throws the signal's reason if it is aborted. */
  throwIfAborted(): void;
}

/** Options of `generate`. */
export interface GenerateOptions {
  /** The maximum number of tokens to generate; default 20. */
  readonly maxNewTokens?: number | undefined;
  /** Sample tokens by their probabilities instead of taking the most likely one; default false. */
  readonly doSample?: boolean | undefined;
  /** Divides the scores: values below 1 make likely tokens more likely; default 1. */
  readonly temperature?: number | undefined;
  /** Sample only from that many of the most likely tokens; default: all. */
  readonly topK?: number | null | undefined;
  /** Sample only from the most likely tokens that together have this probability; default 1. */
  readonly topP?: number | undefined;
  /** Divides the positive scores of tokens that have occurred, and multiplies the negative ones; default 1. */
  readonly repetitionPenalty?: number | undefined;
  /** The token, or the tokens, that end a text; null for none; default: what the model's files say. */
  readonly eosTokenId?: number | readonly number[] | null | undefined;
  /** The token that pads texts that have ended; default: what the model's files say, or the token that ends texts. */
  readonly padTokenId?: number | undefined;
  /** 0 for padding, and not 0 for all other tokens; texts of a batch are padded on the left. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The random number generator; default: the global generator. */
  readonly generator?: eg.Generator | null | undefined;
  /** Tokens that are never generated; default: those of generation_config.json. */
  readonly suppressTokens?: readonly number[] | null | undefined;
  /** Receives the tokens as they are generated. */
  readonly streamer?: Streamer | null | undefined;
  /** Stops the generation; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | null | undefined;
}

/** The rule for one or more tokens. */
export const kTokens: OptionRule = {
  expected: "a token or a list of tokens",
  accepts: (value) => (Array.isArray(value) ? value : [value]).every((one) => kWhole.accepts(one)),
};

/** The rule for an AbortSignal. */
export const kSignal: OptionRule = orNull({
  expected: "an AbortSignal",
  accepts: (value) => {
    const { aborted, throwIfAborted } = Object(value) as Partial<AbortSignalLike>;
    return typeof aborted === "boolean" && typeof throwIfAborted === "function";
  },
});

/** The rules for the options of `generate`. */
export const kGenerateOptions = {
  maxNewTokens: kCount,
  doSample: kFlag,
  temperature: kPositive,
  topK: orNull(kCount),
  topP: kShare,
  repetitionPenalty: kPositive,
  eosTokenId: orNull(kTokens),
  padTokenId: kWhole,
  suppressTokens: orNull(kTokens),
  attentionMask: kTensor,
  generator: orNull({ expected: "a Generator", accepts: (value) => value instanceof eg.Generator }),
  streamer: orNull({
    expected: "an object with put()",
    accepts: (value) => typeof (value as Partial<Streamer> | null)?.put === "function",
  }),
  signal: kSignal,
};
