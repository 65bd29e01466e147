// tokenizer.json and tokenizer_config.json from the metadata of a GGUF file.

import { describe, fail } from "../../../errors/errors.js";
import type { GgufHeader } from "../../../gguf/read.js";
import type { GgufValue } from "../../../gguf/types.js";
import type { ConfigValues } from "../../config/config.js";
import { mergesOfScores } from "./merges.js";

const kWhere = "AutoTokenizer.fromPretrained";

/** The files that a tokenizer is made from. */
export interface TokenizerValues {
  /** The values of tokenizer.json. */
  readonly tokenizer: ConfigValues;
  /** The values of tokenizer_config.json. */
  readonly config: ConfigValues;
}

/** What files say about a token. */
const kControl = 3;
const kUserDefined = 4;
const kUnknown = 2;

interface Vocabulary {
  readonly tokens: readonly string[];
  /** The ID of each token. */
  readonly ids: Readonly<Record<string, number>>;
  readonly types: ArrayLike<number>;
  get(key: string): GgufValue | undefined;
}

/** Reads the metadata of a tokenizer. */
export function tokenizerIn({ metadata }: GgufHeader): TokenizerValues {
  const get = (key: string) => metadata.get(`tokenizer.ggml.${key}`);
  const tokens = textsOf(get("tokens"));
  const model = get("model");
  if (tokens === null) {
    return fail("InvalidArgument", kWhere, "the metadata of the GGUF file has no tokens.");
  }
  const make = typeof model === "string" && Object.hasOwn(kModels, model) ? kModels[model] : null;
  if (!make) {
    const known = Object.keys(kModels).join(", ");
    const message = `tokenizer.ggml.model is ${describe(model)}, which is not implemented; it may be ${known}`;
    return fail("InvalidArgument", kWhere, `${message}.`);
  }
  const types = numbersOf(get("token_type")) ?? new Uint8Array(tokens.length);
  const ids = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const vocabulary = { tokens, ids, types, get };
  return {
    tokenizer: { version: "1.0", truncation: null, padding: null, ...make(vocabulary) },
    config: configOf(vocabulary, metadata),
  };
}

const textsOf = (value: GgufValue | undefined): readonly string[] | null =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : null;

const numbersOf = (value: GgufValue | undefined): ArrayLike<number> | null =>
  ArrayBuffer.isView(value) ? (value as unknown as ArrayLike<number>) : null;

const kSpecial = {
  bos: "bos_token",
  eos: "eos_token",
  unknown: "unk_token",
  seperator: "sep_token",
  padding: "pad_token",
  cls: "cls_token",
  mask: "mask_token",
};

function tokenOf({ tokens, get }: Vocabulary, name: string): string | null {
  const id = get(`${name}_token_id`);
  return typeof id === "number" ? (tokens[id] ?? null) : null;
}

function configOf(vocabulary: Vocabulary, metadata: GgufHeader["metadata"]): ConfigValues {
  const special = Object.entries(kSpecial).flatMap(([own, name]) => {
    const token = tokenOf(vocabulary, own);
    return token === null ? [] : [[name, token] as const];
  });
  const templates = [...metadata].flatMap(([key, template]) => {
    const [, name] = /^tokenizer\.chat_template(?:\.(\w+))?$/.exec(key) ?? [];
    const isOne = /^tokenizer\.chat_template(?:\.|$)/.test(key);
    return isOne && typeof template === "string" ? [{ name: name ?? "default", template }] : [];
  });
  return {
    ...Object.fromEntries(special),
    ...(templates.length > 0 && { chat_template: templates }),
  };
}

// Tokens that texts contain as they are: those of control, and those that were added.
function addedTokens({ tokens, types }: Vocabulary): object[] {
  return tokens.flatMap((content, id) => {
    const type = types[id];
    if (type !== kControl && type !== kUserDefined && type !== kUnknown) return [];
    const special = type !== kUserDefined;
    return [
      { id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false },
    ];
  });
}

// What begins and ends texts.
function templateOf(vocabulary: Vocabulary, begins: boolean, ends: boolean): object | null {
  const first = begins ? tokenOf(vocabulary, "bos") : null;
  const last = ends ? tokenOf(vocabulary, "eos") : null;
  if (first === null && last === null) return null;
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const around = (id: "A" | "B") => [
    ...(first === null ? [] : [special(first)]),
    { Sequence: { id, type_id: 0 } },
    ...(last === null ? [] : [special(last)]),
  ];
  const used = [first, last].filter((token) => token !== null);
  const described = used.map((id) => [id, { id, ids: [vocabulary.ids[id]], tokens: [id] }]);
  return {
    type: "TemplateProcessing",
    single: around("A"),
    pair: [...around("A"), ...around("B")],
    special_tokens: Object.fromEntries(described),
  };
}

const kWords =
  "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+";
const kRest = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const split = (pattern: string) => ({
  type: "Split",
  pattern: { Regex: pattern },
  behavior: "Isolated",
  invert: false,
});
const bytes = (hasRegex: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: hasRegex,
});
const sequence = (...parts: readonly object[]) => ({ type: "Sequence", pretokenizers: parts });

// How texts are split, by the names that llama.cpp has for them: in the way of GPT-2, of Llama 3, of Qwen 2, and of GPT-2 with single digits.
const kGpt2 = bytes(true);
const kLlama3 = sequence(split(`${kWords}|\\p{N}{1,3}|${kRest}`), bytes(false));
const kQwen2 = sequence(split(`${kWords}|\\p{N}|${kRest}`), bytes(false));
const kDigits = sequence({ type: "Digits", individual_digits: true }, bytes(true));

const kSplits: Readonly<Record<string, object>> = {
  "gpt-2": kGpt2,
  olmo: kGpt2,
  mpt: kGpt2,
  "phi-2": kGpt2,
  "llama-bpe": kLlama3,
  llama3: kLlama3,
  "llama-v3": kLlama3,
  "smaug-bpe": kLlama3,
  falcon3: kLlama3,
  dbrx: kLlama3,
  qwen2: kQwen2,
  stablelm2: kQwen2,
  "deepseek-r1-qwen": kQwen2,
  megrez: kQwen2,
  smollm: kDigits,
  starcoder: kDigits,
  refact: kDigits,
  "command-r": kDigits,
};

/** Texts of these begin with their first token unless files say otherwise. */
const kBegins = new Set(["llama-bpe", "llama3", "llama-v3", "falcon3"]);

function flagOf({ get }: Vocabulary, key: string, fallback: boolean): boolean {
  const value = get(key);
  return typeof value === "boolean" ? value : fallback;
}

function bytePairs(vocabulary: Vocabulary): ConfigValues {
  const { get, ids } = vocabulary;
  const merges = textsOf(get("merges"));
  const pre = get("pre") ?? "gpt-2";
  if (merges === null) fail("InvalidArgument", kWhere, "tokenizer.ggml.merges is missing.");
  const splits = typeof pre === "string" && Object.hasOwn(kSplits, pre) ? kSplits[pre] : null;
  if (!splits) {
    const known = Object.keys(kSplits).join(", ");
    const message = `tokenizer.ggml.pre is ${describe(pre)}, which is not implemented; it may be ${known}`;
    fail("InvalidArgument", kWhere, `${message}.`);
  }
  const begins = flagOf(vocabulary, "add_bos_token", kBegins.has(String(pre)));
  return {
    added_tokens: addedTokens(vocabulary),
    normalizer: null,
    pre_tokenizer: splits,
    post_processor: templateOf(vocabulary, begins, flagOf(vocabulary, "add_eos_token", false)),
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { ...kNoMarks, type: "BPE", unk_token: null, fuse_unk: false, vocab: ids, merges },
  };
}

const kNoMarks = {
  dropout: null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
};

// Texts whose spaces are "▁", and whose pieces are joined to those of the highest scores.
function sentencePieces(vocabulary: Vocabulary): ConfigValues {
  const { get, tokens, ids } = vocabulary;
  const scores = numbersOf(get("scores"));
  if (scores === null || scores.length !== tokens.length) {
    fail("InvalidArgument", kWhere, "tokenizer.ggml.scores: expected a number for each token.");
  }
  const hasSpace = flagOf(vocabulary, "add_space_prefix", true);
  const begins = flagOf(vocabulary, "add_bos_token", true);
  const space = { type: "Replace", pattern: { String: " " }, content: "▁" };
  const strip = { type: "Strip", content: " ", start: 1, stop: 0 };
  const back = { type: "Replace", pattern: { String: "▁" }, content: " " };
  const joined = [back, { type: "ByteFallback" }, { type: "Fuse" }];
  return {
    added_tokens: addedTokens(vocabulary),
    normalizer: {
      type: "Sequence",
      normalizers: [...(hasSpace ? [{ type: "Prepend", prepend: "▁" }] : []), space],
    },
    pre_tokenizer: null,
    post_processor: templateOf(vocabulary, begins, flagOf(vocabulary, "add_eos_token", false)),
    decoder: { type: "Sequence", decoders: hasSpace ? [...joined, strip] : joined },
    model: {
      ...kNoMarks,
      type: "BPE",
      unk_token: tokenOf(vocabulary, "unknown") ?? "<unk>",
      fuse_unk: true,
      byte_fallback: true,
      vocab: ids,
      merges: mergesOfScores(ids, tokens, scores),
    },
  };
}

// llama.cpp marks the beginnings of words, where BERT marks what continues them.
function wordPieces({ tokens, ...others }: Vocabulary): ConfigValues {
  const own = tokens.map((token) => {
    if (/^\[.*\]$/.test(token)) return token;
    return token.startsWith("▁") ? token.slice(1) : `##${token}`;
  });
  const ids = Object.fromEntries(own.map((token, id) => [token, id]));
  const vocabulary = { ...others, tokens: own, ids };
  const first = tokenOf(vocabulary, "cls") ?? tokenOf(vocabulary, "bos") ?? "[CLS]";
  const last = tokenOf(vocabulary, "seperator") ?? tokenOf(vocabulary, "eos") ?? "[SEP]";
  const lowercase = !own.some((token) => !/^\[.*\]$/.test(token) && /\p{Lu}/u.test(token));
  return {
    added_tokens: addedTokens(vocabulary),
    normalizer: {
      type: "BertNormalizer",
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase,
    },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "BertProcessing",
      sep: [last, ids[last]],
      cls: [first, ids[first]],
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: tokenOf(vocabulary, "unknown") ?? "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: ids,
    },
  };
}

const kModels: Readonly<Record<string, (vocabulary: Vocabulary) => ConfigValues>> = {
  gpt2: bytePairs,
  llama: sentencePieces,
  bert: wordPieces,
};
