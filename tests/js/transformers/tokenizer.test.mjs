// Tokenizers and chat templates, computed by @huggingface/tokenizers and @huggingface/jinja.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import "../support/engine.mjs";
import { AutoTokenizer, TextStreamer } from "edgegrad/transformers";

// Words of a small vocabulary, with tokens that begin and end messages.
const kWords = [
  "[UNK]",
  "<s>",
  "</s>",
  "<|user|>",
  "<|assistant|>",
  "hello",
  "world",
  "how",
  "are",
  "you",
  "fine",
];
const special = (content, id) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});
const kTokenizer = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: kWords.slice(0, 5).map(special),
  normalizer: null,
  pre_tokenizer: { type: "Whitespace" },
  post_processor: {
    type: "TemplateProcessing",
    single: [{ SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
    pair: [],
    special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } },
  },
  decoder: null,
  model: {
    type: "WordLevel",
    vocab: Object.fromEntries(kWords.map((word, i) => [word, i])),
    unk_token: "[UNK]",
  },
};
const kConfig = {
  bos_token: "<s>",
  eos_token: { content: "</s>" },
  chat_template:
    "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{{ eos_token }}{% endfor %}" +
    "{% if add_generation_prompt %}<|assistant|>{% endif %}",
};
const kFiles = {
  "tokenizer.json": JSON.stringify(kTokenizer),
  "tokenizer_config.json": JSON.stringify(kConfig),
};
const tokenizer = await AutoTokenizer.fromPretrained(kFiles, { Tokenizer, Template });
const kChat = [
  { role: "user", content: "hello" },
  { role: "assistant", content: "hello you" },
  { role: "user", content: "how are you" },
  { role: "assistant", content: "fine" },
];

describe("a tokenizer", () => {
  test("reads and writes texts", () => {
    assert.deepEqual(tokenizer.encode("hello world"), [1, 5, 6]);
    assert.deepEqual(tokenizer.encode("hello you", { addSpecialTokens: false }), [5, 9]);
    assert.throws(() => tokenizer.encode("hello moon"), /no token for a part of "hello moon"/);
    assert.equal(tokenizer.decode([1, 5, 6], { skipSpecialTokens: true }), "hello world");
    assert.deepEqual([tokenizer.bosTokenId, tokenizer.eosTokenId, tokenizer.padTokenId], [1, 2, 2]);
  });

  test("makes batches, filled up on a side", () => {
    const lists = ({ inputIds, attentionMask }) => [
      inputIds.arraySync(),
      attentionMask.arraySync(),
    ];
    const texts = ["hello world how", "you"];
    assert.deepEqual(lists(tokenizer.batch(texts)), [
      [
        [1, 5, 6, 7],
        [1, 9, 2, 2],
      ],
      [
        [1, 1, 1, 1],
        [1, 1, 0, 0],
      ],
    ]);
    assert.deepEqual(lists(tokenizer.batch(texts, { paddingSide: "left", maxLength: 3 })), [
      [
        [1, 5, 6],
        [2, 1, 9],
      ],
      [
        [1, 1, 1],
        [0, 1, 1],
      ],
    ]);
  });

  test("writes chats as the model has learned them", () => {
    const text = tokenizer.applyChatTemplate(kChat.slice(0, 1), { addGenerationPrompt: true });
    assert.equal(text, "<s><|user|>hello</s><|assistant|>");
  });

  test("makes examples of which answers are learned", () => {
    const { inputIds, labels } = tokenizer.chatExample(kChat);
    const whole = tokenizer.encode(tokenizer.applyChatTemplate(kChat), { addSpecialTokens: false });
    assert.deepEqual(inputIds, whole);
    assert.deepEqual(
      labels.filter((one) => one !== -100),
      [5, 9, 2, 10, 2],
    );
    assert.ok(labels.every((label, i) => label === -100 || label === inputIds[i]));
  });

  test("has a streamer that passes on texts", () => {
    const texts = [];
    const streamer = new TextStreamer(tokenizer, (text) => texts.push(text));
    streamer.put([[1, 5]]);
    for (const token of [6, 7, 2]) streamer.put([[token]]);
    streamer.end();
    assert.equal(texts.join(""), "world how");
  });

  test("refuses what it cannot read", async () => {
    await assert.rejects(
      AutoTokenizer.fromPretrained(kFiles, {}),
      /pass \{ Tokenizer \} of @huggingface\/tokenizers/,
    );
    await assert.rejects(
      AutoTokenizer.fromPretrained({}, { Tokenizer }),
      /there is no tokenizer\.json/,
    );
    const damaged = { ...kFiles, "tokenizer.json": "{}" };
    await assert.rejects(
      AutoTokenizer.fromPretrained(damaged, { Tokenizer }),
      /tokenizer\.json cannot be read/,
    );
    const plain = await AutoTokenizer.fromPretrained(kFiles, { Tokenizer });
    assert.throws(() => plain.applyChatTemplate(kChat), /pass the class Template/);
    assert.throws(() => tokenizer.encode(3), /expected a string, got 3/);
    assert.throws(() => tokenizer.batch([]), /at least one text/);
    const chat_template =
      "{% if messages | length > 2 %}<s>{% endif %}{% for m in messages %}<|{{ m.role }}|>{% endfor %}";
    const changing = { ...kConfig, chat_template };
    const files = { ...kFiles, "tokenizer_config.json": JSON.stringify(changing) };
    const strange = await AutoTokenizer.fromPretrained(files, { Tokenizer, Template });
    assert.throws(() => strange.chatExample(kChat), /changes what came before/);
  });
});
