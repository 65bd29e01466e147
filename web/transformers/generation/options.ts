// What generate() can be told.

import * as eg from "edgegrad";
import { kCount, kFlag, kPositive, kShare, kWhole, type OptionRule, orNull } from "../options.js";
import { kTensor } from "../tasks/inputs.js";

/** Receives tokens while they are generated: one array per call with a token per text, first those given, text by text. */
export interface Streamer {
  /** Takes the next tokens of each text of the batch. */
  put(tokens: readonly (readonly number[])[]): void;
  /** Is called when all texts are complete. */
  end?(): void;
}

/** Stops a generation. */
export interface AbortSignalLike {
  /** Whether the signal has been given. */
  readonly aborted: boolean;
  /** Throws the reason of the signal if it has been given. */
  throwIfAborted(): void;
}

/** Options of `generate`. */
export interface GenerateOptions {
  /** The most tokens to generate; default 20. */
  readonly maxNewTokens?: number | undefined;
  /** Draw tokens by their probability instead of taking the likeliest; default false. */
  readonly doSample?: boolean | undefined;
  /** Scores are divided by it: below 1 likely tokens become likelier; default 1. */
  readonly temperature?: number | undefined;
  /** Draw among that many likeliest tokens; default: all. */
  readonly topK?: number | null | undefined;
  /** Draw among the likeliest tokens that together have this probability; default 1. */
  readonly topP?: number | undefined;
  /** Scores of tokens that have occurred are divided by it, negative ones multiplied; default 1. */
  readonly repetitionPenalty?: number | undefined;
  /** The token, or the tokens, that end a text; null for none; default: what the model's files say. */
  readonly eosTokenId?: number | readonly number[] | null | undefined;
  /** The token that fills up texts that have ended; default: what the model's files say, or the token that ends texts. */
  readonly padTokenId?: number | undefined;
  /** Not 0 for the tokens that count: texts of a batch are padded on the left. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The numbers that are drawn; default: the global generator. */
  readonly generator?: eg.Generator | null | undefined;
  /** Tokens that are not generated; default: those of generation_config.json. */
  readonly suppressTokens?: readonly number[] | null | undefined;
  /** Receives the tokens as they are generated. */
  readonly streamer?: Streamer | null | undefined;
  /** Stops; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | null | undefined;
}

/** The rule for a token, or several. */
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
