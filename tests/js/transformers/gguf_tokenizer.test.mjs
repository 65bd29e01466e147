// Tokenizers of GGUF files: byte pairs, sentence pieces by their scores, and word pieces; and chat templates.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { AutoTokenizer } from "edgegrad/transformers";
import { ggufFile } from "../support/gguf_files.mjs";

const strings = (values) => ({ list: "string", values });
const key = (name) => `tokenizer.ggml.${name}`;

function fileOf(values) {
  const metadata = Object.entries(values).map(([name, value]) => [
    name.startsWith("chat_template") ? `tokenizer.${name}` : key(name),
    value,
  ]);
  return ggufFile({ metadata: Object.fromEntries(metadata) });
}

const open = (values) => AutoTokenizer.fromPretrained(fileOf(values), { Tokenizer, Template });

/** The character that GPT-2 has for each byte. */
const kByteNames = (() => {
  const plain = [];
  for (let i = 0; i < 256; i++) {
    if ((i >= 33 && i <= 126) || (i >= 161 && i <= 172) || i >= 174) plain.push(i);
  }
  let next = 256;
  return Array.from({ length: 256 }, (_, i) =>
    String.fromCodePoint(plain.includes(i) ? i : next++),
  );
})();

const kMerges = ["h e", "l l", "he ll", "hell o", "1 2", "12 3", "4 5", "Ġ hello", "' t"];
const kPairs = kMerges.map((merge) => merge.replace(" ", ""));
const kTokens = [...kByteNames, ...kPairs, "<|end|>", "<tool>"];
const kTypes = kTokens.map((token) => (token === "<|end|>" ? 3 : token === "<tool>" ? 4 : 1));

const bytePairs = (pre, others = {}) => ({
  model: "gpt2",
  ...(pre && { pre }),
  tokens: strings(kTokens),
  token_type: { list: "int32", values: kTypes },
  merges: strings(kMerges),
  eos_token_id: kTokens.indexOf("<|end|>"),
  bos_token_id: kTokens.indexOf("<|end|>"),
  ...others,
});

describe("byte pairs", () => {
  const tokensOf = (ids) => ids.map((id) => kTokens[id]);

  for (const [pre, digits] of [
    [null, ["123", "45"]],
    ["gpt-2", ["123", "45"]],
    ["llama-bpe", ["123", "45"]],
    ["qwen2", ["1", "2", "3", "4", "5"]],
    ["smollm", ["1", "2", "3", "4", "5"]],
  ]) {
    test(`are split as ${pre ?? "files without a name"} has it`, async () => {
      const tokenizer = await open(bytePairs(pre, { add_bos_token: false }));
      assert.deepEqual(tokensOf(tokenizer.encode("12345")), digits);
      assert.deepEqual(tokensOf(tokenizer.encode("hello hello")), ["hello", "Ġhello"]);
      assert.equal(tokenizer.decode(tokenizer.encode("héllo 🙂")), "héllo 🙂");
    });
  }

  test("of Llama 3 have groups of three digits, and begin with a token", async () => {
    const tokenizer = await open(bytePairs("llama-bpe"));
    assert.deepEqual(tokensOf(tokenizer.encode("12 3")), ["<|end|>", "12", "Ġ", "3"]);
    assert.deepEqual(tokensOf(tokenizer.encode("4512345", { addSpecialTokens: false })), [
      "45",
      "1",
      "2",
      "3",
      "4",
      "5",
    ]);
  });

  test("leave special tokens whole, and tell which they are", async () => {
    const tokenizer = await open(bytePairs("qwen2"));
    const ids = tokenizer.encode("hello<|end|><tool>");
    assert.deepEqual(tokensOf(ids), ["hello", "<|end|>", "<tool>"]);
    assert.equal(tokenizer.decode(ids, { skipSpecialTokens: true }), "hello<tool>");
    assert.equal(tokenizer.eosTokenId, kTokens.indexOf("<|end|>"));
  });

  test("of an unknown way to split texts are refused", async () => {
    await assert.rejects(open(bytePairs("other")), (error) => {
      assert.equal(error.code, "InvalidArgument");
      assert.match(error.message, /tokenizer\.ggml\.pre is "other".*llama-bpe/);
      return true;
    });
    const { merges: _, ...without } = bytePairs("qwen2");
    await assert.rejects(open(without), /merges is missing/);
  });
});

describe("sentence pieces", () => {
  const words = ["▁", "a", "b", "c", "ab", "bc", "▁a", "▁ab", "abc", "▁b", "ca", "cab", "é"];
  const scores = [-1, -2, -2, -2, -3, -2.5, -4, -6, -5, -4.5, -3.2, -7, -8];
  const bytes = Array.from(
    { length: 256 },
    (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`,
  );
  const tokens = ["<unk>", "<s>", "</s>", ...bytes, ...words];
  const values = {
    model: "llama",
    tokens: strings(tokens),
    scores: { list: "float32", values: [0, 0, 0, ...bytes.map(() => 0), ...scores] },
    token_type: {
      list: "int32",
      values: tokens.map((_, i) => (i === 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1)),
    },
    bos_token_id: 1,
    eos_token_id: 2,
    unknown_token_id: 0,
  };
  const scoreOf = new Map(words.map((word, i) => [word, scores[i]]));

  // Joins the pair of the highest score until there is none, the first of equals.
  function piecesOf(text) {
    let pieces = [...`▁${text.replaceAll(" ", "▁")}`];
    for (;;) {
      let best = null;
      for (let i = 0; i + 1 < pieces.length; i++) {
        const score = scoreOf.get(pieces[i] + pieces[i + 1]);
        if (score !== undefined && (best === null || score > best.score)) best = { i, score };
      }
      if (best === null) break;
      const { i } = best;
      pieces = [...pieces.slice(0, i), pieces[i] + pieces[i + 1], ...pieces.slice(i + 2)];
    }
    return pieces.flatMap((piece) =>
      scoreOf.has(piece) ? [piece] : [...new TextEncoder().encode(piece)].map((one) => bytes[one]),
    );
  }

  test("are joined by their scores", async () => {
    const tokenizer = await open(values);
    for (const text of [
      "a",
      "abc",
      "ab cab",
      "cab abc  b",
      "bcab",
      "aaé",
      "d🙂a",
      "abcabcabcab cabab",
    ]) {
      const ids = tokenizer.encode(text);
      const wanted = ["<s>", ...piecesOf(text)];
      assert.deepEqual(
        ids.map((id) => tokens[id]),
        wanted,
        text,
      );
      assert.equal(tokenizer.decode(ids, { skipSpecialTokens: true }), text);
    }
  });

  test("begin with a space or a token if the file says so", async () => {
    const tokenizer = await open({
      ...values,
      add_space_prefix: false,
      add_bos_token: false,
      add_eos_token: true,
    });
    const ids = tokenizer.encode("abc");
    assert.deepEqual(
      ids.map((id) => tokens[id]),
      ["abc", "</s>"],
    );
    assert.equal(tokenizer.decode(tokenizer.encode("a b"), { skipSpecialTokens: true }), "a b");
  });

  test("without scores are refused", async () => {
    const { scores: _, ...without } = values;
    await assert.rejects(open(without), /scores: expected a number for each token/);
  });
});

test("word pieces mark what continues a word, and texts have a frame", async () => {
  const own = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁hello", "ing", "▁play", "▁!"];
  const tokenizer = await open({
    model: "bert",
    tokens: strings(own),
    token_type: { list: "int32", values: own.map((_, i) => (i < 4 ? 3 : 1)) },
    bos_token_id: 2,
    eos_token_id: 3,
    seperator_token_id: 3,
    unknown_token_id: 1,
    padding_token_id: 0,
  });
  assert.deepEqual(tokenizer.encode("Héllo playing!"), [2, 4, 6, 5, 7, 3]);
  assert.equal(tokenizer.padTokenId, 0);
});

test("chat templates are in the metadata", async () => {
  const template =
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
  const tokenizer = await open(
    bytePairs("qwen2", { chat_template: template, "chat_template.tool_use": "tools" }),
  );
  const chat = [{ role: "user", content: "hi" }];
  assert.equal(tokenizer.applyChatTemplate(chat), "<|end|><user>hi");
  assert.equal(tokenizer.applyChatTemplate(chat, { tools: [] }), "tools");
});

test("files without a tokenizer, or with another kind, are refused", async () => {
  await assert.rejects(open({}), /has no tokens/);
  await assert.rejects(
    open({ model: "rwkv", tokens: strings(["a"]) }),
    /"rwkv".*gpt2, llama, bert/,
  );
});
