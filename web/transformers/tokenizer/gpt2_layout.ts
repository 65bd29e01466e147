// The layout of GPT-2's first files, vocab.json and merges.txt, as a tokenizer.json.

import type { ConfigValues } from "../config/config.js";

/** The contents of the files. */
export interface Gpt2Files {
  /** The IDs of the tokens. */
  readonly vocab: ConfigValues;
  /** The pairs that are joined, one per line, the most frequent first. */
  readonly merges: string;
  /** The IDs of tokens that were added later. */
  readonly added: ConfigValues;
  /** The values of tokenizer_config.json. */
  readonly config: ConfigValues;
}

/** Returns the values of a tokenizer.json. */
export function gpt2Layout({ vocab, merges, added, config }: Gpt2Files): ConfigValues {
  const ids = new Map(Object.entries({ ...vocab, ...added }) as [string, number][]);
  // Files of GPT-2 itself say nothing about this token.
  const special = new Set(["<|endoftext|>", ...specialTokens(config)]);
  const names = new Set([...special, ...Object.keys(added)].filter((name) => ids.has(name)));
  const hasPrefixSpace = config.add_prefix_space === true;
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [...names].map((content) => ({
      id: ids.get(content),
      content,
      special: special.has(content),
      single_word: false,
      // RoBERTa's mask takes the space before it.
      lstrip: content === "<mask>",
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: hasPrefixSpace, trim_offsets: true },
    post_processor: processorOf(ids, config),
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      vocab,
      merges: merges.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#version")),
    },
  };
}

function specialTokens(config: ConfigValues): string[] {
  return Object.entries(config).flatMap(([key, value]) => {
    if (!/^(?:bos|eos|unk|sep|pad|cls|mask)_token$/.test(key)) return [];
    return typeof value === "string"
      ? [value]
      : [String((value as { content?: unknown })?.content)];
  });
}

// RoBERTa has GPT-2's layout with tokens around texts.
function processorOf(ids: ReadonlyMap<string, number>, config: ConfigValues): object {
  const isRoberta = ids.has("<s>") && ids.has("</s>") && !ids.has("<|endoftext|>");
  if (!isRoberta) {
    return {
      type: "ByteLevel",
      add_prefix_space: config.add_prefix_space === true,
      trim_offsets: false,
    };
  }
  return {
    type: "RobertaProcessing",
    sep: ["</s>", ids.get("</s>")],
    cls: ["<s>", ids.get("<s>")],
    trim_offsets: true,
    add_prefix_space: config.add_prefix_space === true,
  };
}
