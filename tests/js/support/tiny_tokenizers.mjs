// Small tokenizers of each kind: { files, pieces } with the texts of their tokens.

const special = (content, id) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});

function tokenizer({ model, tokens, specials = [], config = {}, ...parts }) {
  const vocab = Object.fromEntries([...specials, ...tokens].map((token, i) => [token, i]));
  const values = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: specials.map(special),
    normalizer: null,
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    ...parts,
    model: { unk_token: specials[0] ?? tokens[0], ...model, vocab },
  };
  return {
    count: Object.keys(vocab).length,
    files: {
      "tokenizer.json": JSON.stringify(values),
      "tokenizer_config.json": JSON.stringify(config),
    },
  };
}

// Words, punctuation and parts of contractions, of which decoding joins some.
const kPieces = [
  "a",
  "no",
  "it",
  "n't",
  "n",
  "'",
  "s",
  "'s",
  "'m",
  "v",
  "'ve",
  "'re",
  "e",
  "t",
  ".",
  ",",
  "?",
  "!",
];
const kBytes = Array.from(
  { length: 256 },
  (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
);
const bpe = { type: "BPE", merges: [] };

/** Tokenizers by kind. */
export const kTokenizers = {
  "words without a decoder": tokenizer({
    model: { type: "WordLevel" },
    tokens: kPieces,
    specials: ["<unk>", "<s>"],
  }),
  "words that are not cleaned up": tokenizer({
    model: { type: "WordLevel" },
    tokens: kPieces,
    config: { clean_up_tokenization_spaces: false },
  }),
  "word pieces": tokenizer({
    model: { type: "WordPiece", continuing_subword_prefix: "##" },
    tokens: [...kPieces, "##t", "##'s"],
    specials: ["[UNK]", "[SEP]"],
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  }),
  bytes: tokenizer({
    model: bpe,
    // Ġ is a space; the last ones are bytes of characters beyond ASCII.
    tokens: ["a", "n", "'", "t", "s", ".", "Ġ", "Ġn", "Ġ'", "ð", "Ł", "ĺ", "Ģ", "Ã", "©", "Ġt"],
    specials: ["<|endoftext|>"],
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false },
    decoder: { type: "ByteLevel" },
  }),
  "sentence pieces with bytes": tokenizer({
    model: { ...bpe, byte_fallback: true },
    tokens: ["▁a", "a", "n", "▁n", "'", "▁'", "t", "s", ".", "▁.", "▁", ...kBytes],
    specials: ["<unk>", "<s>"],
    pre_tokenizer: { type: "Metaspace", replacement: "▁" },
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "▁" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
  }),
  "sentence pieces": tokenizer({
    model: { type: "WordLevel" },
    tokens: ["▁a", "n", "▁n", "'", "▁'", "t", "s", ".", "▁", "▁▁"],
    specials: ["<unk>"],
    decoder: { type: "Metaspace", replacement: "▁" },
  }),
  "ends of words": tokenizer({
    model: { ...bpe, end_of_word_suffix: "</w>" },
    tokens: ["a</w>", "n", "n</w>", "'</w>", "'", "t</w>", "s</w>", ".</w>", "</w>"],
    specials: ["<|endoftext|>"],
    decoder: { type: "ByteLevel" },
  }),
  "letters in time": tokenizer({
    model: { type: "WordLevel" },
    tokens: ["a", "n", "'", "s", "t", ".", "|"],
    specials: ["<pad>"],
    decoder: { type: "CTC", pad_token: "<pad>", word_delimiter_token: "|", cleanup: true },
  }),
};
