// What generation does: the options of a call, and for what they omit the values of generation_config.json.

import { describe, fail } from "../../errors/errors.js";
import { Config, type ConfigValues } from "../config/config.js";
import { kWhole } from "../options.js";
import { type GenerateOptions, kTokens, type LogitsProcessor } from "./options.js";

const kWhere = "generate";
const kFile = "generation_config.json";

/** The model whose files are read. */
interface Files {
  readonly config: ConfigValues;
  readonly generationConfig: ConfigValues;
}

/** The settings of a generation. */
export interface Settings {
  readonly maxNewTokens: number;
  readonly minNewTokens: number;
  readonly doSample: boolean;
  readonly temperature: number;
  readonly topK: number | null;
  readonly topP: number;
  readonly minP: number;
  readonly repetitionPenalty: number;
  readonly noRepeatNgramSize: number;
  readonly beams: number;
  readonly lengthPenalty: number;
  readonly earlyStopping: boolean;
  readonly sequences: number;
  readonly ends: ReadonlySet<number>;
  readonly fill: number;
  /** Tokens that are never chosen, and those that are not chosen as the first one. */
  readonly suppressed: { readonly always: readonly number[]; readonly atFirst: readonly number[] };
  /** Tokens that are not chosen after others: the last of each list after those before it. */
  readonly badWords: readonly (readonly number[])[];
  readonly processors: readonly LogitsProcessor[];
}

// Settings of other libraries that are not implemented, with the values that change nothing.
const kNeutral: Readonly<Record<string, unknown>> = {
  num_beam_groups: 1,
  diversity_penalty: 0,
  penalty_alpha: 0,
  typical_p: 1,
  epsilon_cutoff: 0,
  eta_cutoff: 0,
  encoder_repetition_penalty: 1,
  encoder_no_repeat_ngram_size: 0,
  guidance_scale: 1,
  renormalize_logits: false,
  sequence_bias: null,
  exponential_decay_length_penalty: null,
  forced_bos_token_id: null,
  forced_eos_token_id: null,
  force_words_ids: null,
  constraints: null,
  dola_layers: null,
  top_h: null,
  watermarking_config: null,
};

/** Returns the settings of a call that continues texts of `tokens` tokens. */
export function settingsOf(model: Files, tokens: number, options: GenerateOptions): Settings {
  // Older files have these values in config.json.
  const isOwn = Object.keys(model.generationConfig).length > 0;
  const values = isOwn ? model.generationConfig : model.config;
  const settings = new Config(values, "", isOwn ? kFile : "config.json");
  for (const [key, neutral] of Object.entries(kNeutral)) {
    if (isOwn) settings.only(key, neutral);
  }
  const count = (key: string, fallback: number) => Math.max(0, settings.whole(key, fallback));
  const doSample = options.doSample ?? settings.flag("do_sample", false);
  const maxNewTokens = options.maxNewTokens ?? mostOf(settings, tokens);
  const ends = endsOf(model, options);
  // A file that asks for sampling leaves this number out if it is 50.
  const isFileSampling = isOwn && settings.flag("do_sample", false);
  const topK = options.topK === undefined ? count("top_k", isFileSampling ? 50 : 0) : options.topK;
  return {
    maxNewTokens,
    minNewTokens:
      options.minNewTokens ??
      Math.max(count("min_new_tokens", 0), count("min_length", 0) - tokens, 0),
    doSample,
    temperature: options.temperature ?? (settings.number("temperature", 1) || 1),
    topK: topK || null,
    topP: options.topP ?? settings.share("top_p", 1),
    minP: options.minP ?? settings.share("min_p", 0),
    repetitionPenalty: options.repetitionPenalty ?? settings.number("repetition_penalty", 1),
    noRepeatNgramSize: options.noRepeatNgramSize ?? count("no_repeat_ngram_size", 0),
    beams: options.numBeams ?? settings.size("num_beams", 1),
    lengthPenalty: options.lengthPenalty ?? settings.number("length_penalty", 1),
    earlyStopping: options.earlyStopping ?? settings.raw("early_stopping") === true,
    sequences: options.numReturnSequences ?? settings.size("num_return_sequences", 1),
    ends,
    fill: fillOf(model, options, ends),
    suppressed: suppressedBy(values, options),
    badWords: listsOf(settings.raw("bad_words_ids")),
    processors: options.logitsProcessors ?? [],
  };
}

function mostOf(settings: Config, tokens: number): number {
  if (settings.has("max_new_tokens")) return settings.size("max_new_tokens");
  return settings.has("max_length") ? Math.max(1, settings.size("max_length") - tokens) : 20;
}

function endsOf(model: Files, { eosTokenId }: GenerateOptions): Set<number> {
  const ends = model.generationConfig.eos_token_id ?? model.config.eos_token_id ?? null;
  const given = eosTokenId === undefined ? ends : eosTokenId;
  if (given === null) return new Set();
  if (!kTokens.accepts(given)) {
    fail(
      "InvalidArgument",
      kWhere,
      `eos_token_id of the model is ${describe(given)}: pass eosTokenId.`,
    );
  }
  return new Set([given].flat() as number[]);
}

function fillOf(model: Files, { padTokenId }: GenerateOptions, ends: ReadonlySet<number>): number {
  const padding = model.generationConfig.pad_token_id ?? model.config.pad_token_id;
  const [end = 0] = ends;
  return padTokenId ?? (kWhole.accepts(padding) ? (padding as number) : end);
}

const tokensOf = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((item): item is number => kWhole.accepts(item)) : [];

const listsOf = (value: unknown): number[][] =>
  Array.isArray(value) ? value.map(tokensOf).filter(({ length }) => length > 0) : [];

function suppressedBy(values: ConfigValues, { suppressTokens }: GenerateOptions) {
  if (suppressTokens !== undefined) return { always: suppressTokens ?? [], atFirst: [] };
  const { suppress_tokens: always, begin_suppress_tokens: atFirst } = values;
  return { always: tokensOf(always), atFirst: tokensOf(atFirst) };
}
