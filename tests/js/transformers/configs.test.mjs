// config.json as programs of others write it: keys that change nothing are no reason to refuse a model.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { kClip, kTextClassifiers } from "../support/plain_encoders.mjs";
import { kT5 } from "../support/plain_seq2seq.mjs";
import { distance, drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const ids = (count, words) => eg.tensor([idsOf(count, words)], { dtype: "int64" });

// Keys that each config had in the first versions of the library that writes them.
const kOldKeys = {
  _name_or_path: "",
  add_cross_attention: false,
  architectures: null,
  bad_words_ids: null,
  chunk_size_feed_forward: 0,
  cross_attention_hidden_size: null,
  decoder_start_token_id: null,
  diversity_penalty: 0,
  do_sample: false,
  early_stopping: false,
  encoder_no_repeat_ngram_size: 0,
  exponential_decay_length_penalty: null,
  finetuning_task: null,
  forced_bos_token_id: null,
  forced_eos_token_id: null,
  id2label: { 0: "LABEL_0", 1: "LABEL_1" },
  is_decoder: false,
  is_encoder_decoder: false,
  label2id: { LABEL_0: 0, LABEL_1: 1 },
  length_penalty: 1,
  max_length: 20,
  min_length: 0,
  no_repeat_ngram_size: 0,
  num_beam_groups: 1,
  num_beams: 1,
  num_return_sequences: 1,
  output_attentions: false,
  output_hidden_states: false,
  output_scores: false,
  prefix: null,
  problem_type: null,
  pruned_heads: {},
  remove_invalid_values: false,
  repetition_penalty: 1,
  return_dict: true,
  return_dict_in_generate: false,
  sep_token_id: null,
  task_specific_params: null,
  temperature: 1,
  tf_legacy_loss: false,
  tie_encoder_decoder: false,
  tie_word_embeddings: true,
  tokenizer_class: null,
  top_k: 50,
  top_p: 1,
  torch_dtype: null,
  torchscript: false,
  transformers_version: "4.21.0.dev0",
  typical_p: 1,
  use_bfloat16: false,
};

describe("keys without effect", () => {
  for (const [name, auto, { config, shapes }, more] of [
    ["t5-small", AutoModelForSeq2SeqLM, kT5.t5, { n_positions: 512, output_past: true }],
    [
      "distilgpt2",
      AutoModelForCausalLM,
      kDecoders.gpt2,
      { _num_labels: 1, id2label: { 0: "LABEL_0" }, n_ctx: 24, summary_type: "cls_index" },
    ],
    [
      "Phi-4-mini",
      AutoModelForCausalLM,
      kDecoders.phi3,
      { full_attn_mod: 1, interpolate_factor: 1, lm_head_bias: false, mlp_bias: false },
    ],
    [
      "an upload of another trainer",
      AutoModelForCausalLM,
      kDecoders.llama,
      { unsloth_fixed: true, unsloth_version: "2024.9", dtype: "float32" },
    ],
    [
      "an old export of CLIP",
      AutoModel,
      kClip,
      {
        text_config: { ...kOldKeys, ...kClip.config.text_config },
        vision_config: { ...kOldKeys, ...kClip.config.vision_config },
        text_config_dict: null,
        vision_config_dict: null,
      },
    ],
    ["an old export of BERT", AutoModelForSequenceClassification, kTextClassifiers.bert, kOldKeys],
  ]) {
    test(name, async (t) => {
      t.mock.method(console, "warn", () => {});
      const { tensors } = drawWeights(shapes);
      const open = (values) =>
        auto.fromPretrained(filesOf({ ...values, ...config }, tensors), {
          ignoreMismatchedSizes: true,
        });
      const own = Object.fromEntries(
        Object.entries(more).filter(([key]) => key.endsWith("_config")),
      );
      const model = await auto.fromPretrained(filesOf({ ...more, ...config, ...own }, tensors));
      const plain = await open({});
      assert.deepEqual(
        model.namedParameters().map(([one]) => one),
        plain.namedParameters().map(([one]) => one),
      );
    });
  }

  test("have an effect with other values", async () => {
    const { config, shapes } = kDecoders.phi3;
    const { tensors } = drawWeights(shapes);
    for (const [values, pattern] of [
      [{ full_attn_mod: 2 }, /does not implement: full_attn_mod \(2\)/],
      [{ interpolate_factor: 4 }, /interpolate_factor \(4\)/],
      [{ lm_head_bias: true }, /lm_head_bias/],
    ]) {
      const opening = AutoModelForCausalLM.fromPretrained(
        filesOf({ ...config, ...values }, tensors),
      );
      await assert.rejects(opening, pattern);
    }
  });
});

describe("newer spellings", () => {
  for (const [name, change] of [
    [
      "llama 3, new positions",
      ({ rope_theta, rope_scaling, ...rest }) => ({
        ...rest,
        rope_parameters: { ...rope_scaling, rope_theta },
      }),
    ],
    [
      "llama",
      (config) => ({ ...config, rope_parameters: { rope_type: "default", rope_theta: 10000 } }),
    ],
    [
      "phi3, long texts",
      ({ rope_scaling: { type, ...scaling }, original_max_position_embeddings, ...rest }) => ({
        ...rest,
        rope_parameters: {
          ...scaling,
          rope_type: type,
          rope_theta: 10000,
          original_max_position_embeddings,
        },
      }),
    ],
    [
      "gemma3_text",
      ({ rope_theta, rope_local_base_freq, rope_scaling, sliding_window_pattern: _, ...rest }) => ({
        ...rest,
        layer_types: ["sliding_attention", "full_attention"],
        rope_parameters: {
          full_attention: { rope_type: rope_scaling.rope_type, factor: 2, rope_theta },
          sliding_attention: { rope_type: "default", rope_theta: rope_local_base_freq },
        },
      }),
    ],
    [
      "gpt_neox",
      ({ rotary_pct, rotary_emb_base, ...rest }) => ({
        ...rest,
        rope_parameters: {
          rope_type: "default",
          partial_rotary_factor: rotary_pct,
          rope_theta: rotary_emb_base,
        },
      }),
    ],
  ]) {
    test(`of rotary positions: ${name}`, async () => {
      const { config, shapes, logits } = kDecoders[name];
      const { tensors, arrays } = drawWeights(shapes);
      const model = await AutoModelForCausalLM.fromPretrained(filesOf(change(config), tensors));
      const wanted = logits(arrays, idsOf(9, config.vocab_size));
      assert.ok(distance(model.call(ids(9, config.vocab_size)).logits, wanted) < 2e-5);
    });
  }

  test("of the dtype, which is written as it was read", async () => {
    const { config, shapes } = kDecoders.llama;
    const files = filesOf({ ...config, dtype: "float32" }, drawWeights(shapes).tensors);
    const model = await AutoModelForCausalLM.fromPretrained(files, { dtype: "float16" });
    const saved = JSON.parse(
      new TextDecoder().decode((await model.savePretrained())["config.json"]),
    );
    assert.equal(saved.dtype, "float16");
    assert.ok(!("torch_dtype" in saved));
  });

  test("of T5's head, which is not tied although the file says so", async () => {
    const { config, shapes, logits } = kT5["t5 1.1"];
    const { tensors, arrays } = drawWeights(shapes);
    const values = { ...config, tie_word_embeddings: true, scale_decoder_outputs: false };
    const model = await AutoModelForSeq2SeqLM.fromPretrained(filesOf(values, tensors));
    const decoderInputIds = ids(4, 20);
    const { logits: own } = model.call(ids(5, 20), { decoderInputIds });
    assert.ok(distance(own, logits(arrays, idsOf(5, 20), idsOf(4, 20))) < 2e-5);
  });
});

test("a head of other sizes is new if a program says so", async (t) => {
  const warn = t.mock.method(console, "warn", () => {});
  const { config, shapes } = kTextClassifiers.bert;
  const files = filesOf(config, drawWeights(shapes).tensors);
  const open = (options) => AutoModelForSequenceClassification.fromPretrained(files, options);
  await assert.rejects(open({ numLabels: 7 }), (error) => {
    assert.equal(error.code, "ShapeMismatch");
    assert.match(
      error.message,
      /classifier\.weight: the model has \[7, 12\], and the file \[3, 12\]/,
    );
    assert.match(error.message, /ignoreMismatchedSizes: true begins a new head/);
    return true;
  });
  const model = await open({ numLabels: 7, ignoreMismatchedSizes: true });
  assert.deepEqual(model.call(ids(4, 20)).logits.shape, [1, 7]);
  assert.match(warn.mock.calls[0].arguments[0], /no weights for classifier\.weight/);
  const again = await AutoModelForSequenceClassification.fromPretrained(
    await model.savePretrained(),
  );
  eg.testing.assertClose(again.call(ids(4, 20)).logits, model.call(ids(4, 20)).logits);
});
