// The options of generate().

import * as eg from "edgegrad";
import { KeyValueCache } from "../blocks/cache.js";
import {
  kCount,
  kFinite,
  kFlag,
  kFunction,
  kList,
  kPositive,
  kShare,
  kShareOrNothing,
  kWhole,
  type OptionRule,
  orNull,
} from "../options.js";
import { kTensor } from "../tasks/inputs.js";

/** The part of a tokenizer that is used. */
export interface Decoder {
  /** Returns the text of tokens. */
  decode(ids: readonly number[]): string;
}

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

/** Changes the scores of the next tokens, [batch, vocabulary], for texts whose tokens are `tokens`. */
export type LogitsProcessor = (
  scores: eg.Tensor,
  tokens: readonly (readonly number[])[],
) => eg.Tensor;

/** Says after each token whether texts end: all of them, or each of them. */
export type StoppingCriteria = (
  tokens: readonly (readonly number[])[],
) => boolean | readonly boolean[] | Promise<boolean | readonly boolean[]>;

/** Options of `generate`; what is omitted is what generation_config.json says. */
export interface GenerateOptions {
  /** The maximum number of tokens to generate; default 20. */
  readonly maxNewTokens?: number | undefined;
  /** The minimum number of tokens to generate before a text may end; default 0. */
  readonly minNewTokens?: number | undefined;
  /** Sample tokens by their probabilities instead of taking the most likely one; default false. */
  readonly doSample?: boolean | undefined;
  /** Divides the scores: values below 1 make likely tokens more likely; default 1. */
  readonly temperature?: number | undefined;
  /** Sample only from that many of the most likely tokens; default: all. */
  readonly topK?: number | null | undefined;
  /** Sample only from the most likely tokens that together have this probability; default 1. */
  readonly topP?: number | undefined;
  /** Sample only from tokens whose probability is at least this share of the largest one; default 0. */
  readonly minP?: number | undefined;
  /** Sequences of that many tokens occur only once in a text; default 0: they may repeat. */
  readonly noRepeatNgramSize?: number | undefined;
  /** Continue that many texts at once and return the one of the best score (beam search); default 1. */
  readonly numBeams?: number | undefined;
  /** The score of a beam is divided by its length to this power: more for longer texts; default 1. */
  readonly lengthPenalty?: number | undefined;
  /** End a beam search when there are as many complete texts as beams; default false: when no other text can become better. */
  readonly earlyStopping?: boolean | undefined;
  /** The number of texts per input, one after the other, with `doSample` or `numBeams`; default 1. */
  readonly numReturnSequences?: number | undefined;
  /** A text ends when it has one of these strings; needs `tokenizer`. */
  readonly stopStrings?: string | readonly string[] | null | undefined;
  /** The tokenizer that `stopStrings` needs. */
  readonly tokenizer?: Decoder | null | undefined;
  /** Ends texts. */
  readonly stoppingCriteria?: StoppingCriteria | null | undefined;
  /** Change the scores before a token is chosen, after the other options except those of sampling. */
  readonly logitsProcessors?: readonly LogitsProcessor[] | undefined;
  /**
   * The cache of the beginning of the text, which is not computed again. It is kept, and then has all tokens but the last one; `crop()` goes back to an earlier
   * place.
   */
  readonly pastKeyValues?: KeyValueCache | null | undefined;
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
  accepts: (value) =>
    (Array.isArray(value) ? value : [value]).every((item) => kWhole.accepts(item)),
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
  minNewTokens: kWhole,
  doSample: kFlag,
  temperature: kPositive,
  topK: orNull(kCount),
  topP: kShare,
  minP: kShareOrNothing,
  noRepeatNgramSize: kWhole,
  numBeams: kCount,
  lengthPenalty: kFinite,
  earlyStopping: kFlag,
  numReturnSequences: kCount,
  stopStrings: orNull({
    expected: "a string or a list of strings",
    accepts: (value) => [value].flat().every((item) => typeof item === "string" && item !== ""),
  }),
  tokenizer: orNull({
    expected: "a tokenizer",
    accepts: (value) => typeof (value as Partial<Decoder> | null)?.decode === "function",
  }),
  stoppingCriteria: orNull(kFunction),
  logitsProcessors: kList,
  pastKeyValues: orNull({
    expected: "a KeyValueCache",
    accepts: (value) => value instanceof KeyValueCache,
  }),
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
