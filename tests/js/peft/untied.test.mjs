// Modules that an adapter trains itself: where their matrix was tied to another one, the merged model is saved with both.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getPeftModel, LoraConfig } from "edgegrad/peft";
import {
  AutoModelForCausalLM,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSpeechSeq2Seq,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { kMaskedModels } from "../support/plain_encoders.mjs";
import { kT5, kWhisper } from "../support/plain_seq2seq.mjs";
import { drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const ids = eg.tensor([idsOf(6, 17)], { dtype: "int64" });
const spectrogram = eg.randn([
  1,
  kWhisper.config.num_mel_bins,
  2 * kWhisper.config.max_source_positions,
]);
const text = (model) => model.call(ids).logits;
const written = (input) => (model) =>
  model.call(input, { decoderInputIds: ids.narrow(1, 0, 3) }).logits;

const kCases = [
  ["llama, the head", AutoModelForCausalLM, kDecoders["llama, tied"], ["lm_head"], text],
  ["llama, the words", AutoModelForCausalLM, kDecoders["llama, tied"], ["embed_tokens"], text],
  [
    "llama, both",
    AutoModelForCausalLM,
    kDecoders["llama, tied"],
    ["embed_tokens", "lm_head"],
    text,
  ],
  ["gpt2", AutoModelForCausalLM, kDecoders.gpt2, ["wte"], text],
  ["bert, the decoder", AutoModelForMaskedLM, kMaskedModels.bert, ["decoder"], text],
  ["roberta, the head", AutoModelForMaskedLM, kMaskedModels.roberta, ["lm_head"], text],
  ["distilbert", AutoModelForMaskedLM, kMaskedModels.distilbert, ["vocab_projector"], text],
  ["t5, the head", AutoModelForSeq2SeqLM, kT5.t5, ["lm_head"], written(ids)],
  ["t5, the words", AutoModelForSeq2SeqLM, kT5.t5, ["shared"], written(ids)],
  ["whisper", AutoModelForSpeechSeq2Seq, kWhisper, ["proj_out"], written(spectrogram)],
];

describe("a merged model keeps what modulesToSave has trained", () => {
  for (const [name, auto, { config, shapes }, modulesToSave, scores] of kCases) {
    test(name, async () => {
      const { tensors } = drawWeights(shapes);
      const base = await auto.fromPretrained(filesOf(config, tensors));
      const before = scores(base).detach();
      const targetModules = /.*\.(?:q_proj|query|c_attn|q_lin|q)/.source;
      const model = getPeftModel(base, new LoraConfig({ targetModules, modulesToSave }));
      const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
      eg.noGrad(() => {
        for (const one of trained) one.add_(eg.randn(one.shape).mul(0.2));
      });
      const tuned = scores(model).detach();
      assert.ok(tuned.sub(before).abs().max().item() > 0.01);
      const merged = model.mergeAndUnload();
      const near = { rtol: 1e-4, atol: 1e-4 };
      eg.testing.assertClose(scores(merged).detach(), tuned, near);
      const files = await merged.savePretrained();
      const again = await auto.fromPretrained(files);
      eg.testing.assertClose(scores(again).detach(), tuned, near);
      assert.equal(
        JSON.parse(new TextDecoder().decode(files["config.json"])).tie_word_embeddings,
        false,
      );
    });
  }
});
