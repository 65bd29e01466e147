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

const lists = (batch) =>
  Object.fromEntries(Object.entries(batch).map(([name, one]) => [name, one.arraySync()]));

describe("batches of texts that are too long", () => {
  // [CLS] first [SEP], or [CLS] first [SEP] second [SEP].
  const kPair = {
    ...kTokenizer,
    post_processor: { type: "BertProcessing", sep: ["</s>", 2], cls: ["<s>", 1] },
  };
  const load = (values = {}, config = {}) =>
    AutoTokenizer.fromPretrained(
      {
        "tokenizer.json": JSON.stringify({ ...kPair, ...values }),
        "tokenizer_config.json": JSON.stringify({ pad_token: "[UNK]", ...config }),
      },
      { Tokenizer },
    );
  const rows = (made) => lists(made).inputIds;

  test("keep the tokens around them", async () => {
    const pair = await load();
    const long = "hello world how are you";
    assert.deepEqual(rows(pair.batch([long, "fine"], { maxLength: 4 })), [
      [1, 5, 6, 2],
      [1, 10, 2, 0],
    ]);
    assert.deepEqual(rows(pair.batch([long], { maxLength: 4, truncationSide: "left" })), [
      [1, 8, 9, 2],
    ]);
    assert.deepEqual(rows(pair.batch([long], { maxLength: 2, addSpecialTokens: false })), [[5, 6]]);
    assert.throws(() => pair.batch([long], { maxLength: 1 }), /1 tokens are too few/);
  });

  test("cut the longer text of a pair, or one of them", async () => {
    const pair = await load();
    const texts = ["hello world how are", "you fine"];
    const whole = pair.batch([texts]);
    assert.deepEqual(lists(whole), {
      inputIds: [[1, 5, 6, 7, 8, 2, 9, 10, 2]],
      attentionMask: [[1, 1, 1, 1, 1, 1, 1, 1, 1]],
      tokenTypeIds: [[0, 0, 0, 0, 0, 0, 1, 1, 1]],
    });
    assert.deepEqual(pair.encode(texts[0], { textPair: texts[1] }), rows(whole)[0]);
    const { inputIds, tokenTypeIds } = lists(pair.batch([texts], { maxLength: 8 }));
    assert.deepEqual(inputIds, [[1, 5, 6, 7, 2, 9, 10, 2]]);
    assert.deepEqual(tokenTypeIds, [[0, 0, 0, 0, 0, 1, 1, 1]]);
    assert.deepEqual(rows(pair.batch([texts], { maxLength: 6 })), [[1, 5, 6, 2, 9, 2]]);
    const second = { maxLength: 8, truncation: "onlySecond" };
    assert.deepEqual(rows(pair.batch([texts], second)), [[1, 5, 6, 7, 8, 2, 9, 2]]);
    const first = { maxLength: 6, truncation: "onlyFirst" };
    assert.deepEqual(rows(pair.batch([texts], first)), [[1, 5, 2, 9, 10, 2]]);
    const named = await load({}, { model_input_names: ["input_ids", "attention_mask"] });
    assert.ok(!("tokenTypeIds" in named.batch([texts])));
    assert.ok("tokenTypeIds" in named.batch(["you"], { returnTokenTypeIds: true }));
  });

  test("follow the sections of tokenizer.json, unless a program says otherwise", async () => {
    const own = await load({
      truncation: { direction: "Left", max_length: 4, strategy: "LongestFirst", stride: 0 },
      padding: {
        strategy: { Fixed: 5 },
        direction: "Left",
        pad_to_multiple_of: 6,
        pad_id: 0,
        pad_type_id: 0,
        pad_token: "[UNK]",
      },
    });
    const text = "hello world how";
    assert.deepEqual(rows(own.batch([text])), [[0, 0, 1, 6, 7, 2]]);
    const plain = { maxLength: null, padding: "longest", paddingSide: "right", padToMultipleOf: 1 };
    assert.deepEqual(rows(own.batch([text], plain)), [[1, 5, 6, 7, 2]]);
    const pair = await load();
    assert.deepEqual(rows(pair.batch([text], { maxLength: 7, padding: "maxLength" })), [
      [1, 5, 6, 7, 2, 0, 0],
    ]);
    assert.throws(() => pair.batch([text], { padding: "maxLength" }), /needs maxLength/);
    assert.equal(pair.decode([]), "");
  });
});

describe("the files of a tokenizer", () => {
  const load = (files) => AutoTokenizer.fromPretrained(files, { Tokenizer, Template });
  const withConfig = (config, more = {}) => ({
    "tokenizer.json": JSON.stringify(kTokenizer),
    "tokenizer_config.json": JSON.stringify(config),
    ...more,
  });
  const chat = kChat.slice(0, 1);

  test("have templates by name, of which tools have their own", async () => {
    const template = (name) => ({ name, template: `${name}{% if tools %}!{% endif %}` });
    const named = await load(
      withConfig({ chat_template: [template("default"), template("tool_use")] }),
    );
    assert.equal(named.applyChatTemplate(chat), "default");
    assert.equal(named.applyChatTemplate(chat, { tools: [{ name: "add" }] }), "tool_use!");
    assert.equal(named.applyChatTemplate(chat, { template: "tool_use" }), "tool_use");
    assert.throws(
      () => named.applyChatTemplate(chat, { template: "x" }),
      /there are default, tool_use/,
    );
  });

  test("have a template in a file of its own", async () => {
    const json = { "chat_template.json": JSON.stringify({ chat_template: "json" }) };
    assert.equal((await load(withConfig({}, json))).applyChatTemplate(chat), "json");
    const jinja = { ...json, "chat_template.jinja": "jinja" };
    assert.equal((await load(withConfig(kConfig, jinja))).applyChatTemplate(chat), "jinja");
  });

  test("have templates that read other values", async () => {
    const chat_template =
      "{% if enable_thinking is defined and enable_thinking is false %}no {% endif %}think {{ sep_token }}{{ messages[0].tool_calls[0].name }}";
    const own = await load(withConfig({ chat_template, sep_token: "</s>" }));
    const called = [{ role: "assistant", tool_calls: [{ name: "add" }] }];
    assert.equal(own.applyChatTemplate(called), "think </s>add");
    const variables = { enable_thinking: false };
    assert.equal(own.applyChatTemplate(called, { variables }), "no think </s>add");
  });

  test("name special tokens in special_tokens_map.json", async () => {
    const map = {
      "special_tokens_map.json": JSON.stringify({ eos_token: "<|user|>", mask_token: "[UNK]" }),
    };
    const old = await load(withConfig({ eos_token: "</s>" }, map));
    assert.deepEqual([old.eosTokenId, old.maskTokenId], [3, 0]);
    const current = await load(withConfig({ eos_token: "</s>", added_tokens_decoder: {} }, map));
    assert.deepEqual([current.eosTokenId, current.maskTokenId], [2, 0]);
    assert.equal(current.tokenToId("hello"), 5);
    assert.equal(current.tokenToId("none"), null);
  });

  test("are those of GPT-2: vocab.json and merges.txt", async () => {
    const words = ["a", "b", "Ġ", "ab", "Ġab", "<|endoftext|>"];
    const vocab = Object.fromEntries(words.map((word, i) => [word, i]));
    const files = {
      "vocab.json": JSON.stringify(vocab),
      "merges.txt": "#version: 0.2\na b\nĠ ab\n",
    };
    const gpt2 = await load(files);
    assert.deepEqual(gpt2.encode("ab abb<|endoftext|>a"), [3, 4, 1, 5, 0]);
    assert.equal(gpt2.decode([3, 4, 5], { skipSpecialTokens: true }), "ab ab");
    const roberta = {
      "vocab.json": JSON.stringify({ "<s>": 0, "</s>": 1, "<mask>": 2, a: 3, b: 4, ab: 5, Ġ: 6 }),
      "merges.txt": "a b",
      "special_tokens_map.json": JSON.stringify({
        cls_token: "<s>",
        sep_token: "</s>",
        mask_token: { content: "<mask>" },
      }),
    };
    const around = await load(roberta);
    assert.deepEqual(around.encode("ab<mask>"), [0, 5, 2, 1]);
    assert.deepEqual(around.encode("a", { textPair: "b" }), [0, 3, 1, 1, 4, 1]);
  });
});
