// Byte-pair encoding: learns tokens from a text, and writes them as Hugging Face's tokenizer.json.

// How texts are cut into words, within which tokens lie: as GPT-2 does, which the pre-tokenizer "ByteLevel" implements.
const kWords = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** The token that ends a text, with the number 0. */
export const kEndToken = "<|endoftext|>";

/**
 * Learns a tokenizer with `size` tokens: the end of a text, the 256 bytes, and the pairs that occur most often.
 * @param {string} text
 * @param {number} size
 */
export function learnTokenizer(text, size) {
  const bytes = byteSigns();
  const tokens = [kEndToken, ...bytes];
  const merges = [];
  const words = countWords(text, bytes);
  while (tokens.length < size) {
    const pair = mostFrequentPair(words);
    if (pair === null) break;
    merges.push(pair);
    tokens.push(pair.join(""));
    for (const word of words) word.parts = merged(word.parts, pair);
  }
  return tokenizerFile(tokens, merges);
}

// The sign that stands for each byte: itself if it can be seen, otherwise one from 256 on, as in GPT-2.
function byteSigns() {
  const isSeen = (byte) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(isSeen(byte) ? byte : next++),
  );
}

function countWords(text, bytes) {
  const counts = new Map();
  for (const [word] of text.matchAll(kWords)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const encoder = new TextEncoder();
  return [...counts].map(([word, count]) => ({
    count,
    parts: Array.from(encoder.encode(word), (byte) => bytes[byte]),
  }));
}

function mostFrequentPair(words) {
  const counts = new Map();
  for (const { parts, count } of words) {
    for (let i = 1; i < parts.length; i++) {
      const pair = `${parts[i - 1]} ${parts[i]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best = null;
  for (const [pair, count] of counts) {
    if (count > 1 && (best === null || count > best.count)) best = { pair, count };
  }
  return best === null ? null : best.pair.split(" ");
}

function merged(parts, [left, right]) {
  const whole = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    whole.push(isPair ? left + right : parts[i]);
    if (isPair) i++;
  }
  return whole;
}

function tokenizerFile(tokens, merges) {
  const byteLevel = {
    type: "ByteLevel",
    add_prefix_space: false,
    trim_offsets: true,
    use_regex: true,
  };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [
      {
        id: 0,
        content: kEndToken,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      },
    ],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges,
    },
  };
}
