// Adapters on GGUF models: trained there, saved in PEFT's files and as GGUF files of llama.cpp.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getPeftModel, LoraConfig, PeftModel } from "edgegrad/peft";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { ggufFile, readGguf } from "../support/gguf_files.mjs";
import { ggufMetadata, ggufTensors } from "../support/gguf_models.mjs";
import { kNarrow, kNarrowShapes } from "../support/narrow_llama.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { distance, drawWeights, idsOf } from "../support/pretrained.mjs";

const { arrays } = drawWeights(kNarrowShapes);
const sizes = { heads: 4, groups: 2 };
const ids = eg.tensor([idsOf(9, 24)], { dtype: "int64" });
const fileOf = (type) =>
  ggufFile({
    metadata: ggufMetadata("llama", kNarrow),
    tensors: ggufTensors("llama", arrays, sizes, () => type),
  });

function trained(model, options = {}) {
  eg.manualSeed(1);
  const config = new LoraConfig({ r: 2, loraAlpha: 6, targetModules: "all-linear", ...options });
  const adapted = getPeftModel(model, config);
  const learned = adapted.parameters().filter(({ requiresGrad }) => requiresGrad);
  const optimizer = new eg.optim.AdamW(learned, { lr: 0.02 });
  const losses = [];
  for (let i = 0; i < 10; i++) {
    optimizer.zeroGrad();
    const { loss } = adapted.call(ids, { labels: ids });
    loss.backward();
    optimizer.step();
    losses.push(loss.item());
  }
  assert.ok(losses.at(-1) < 0.8 * losses[0], String(losses));
  return adapted;
}

for (const type of ["Q4_0", "Q4_1", "Q8_0"]) {
  test(`an adapter is trained on ${type}, and its files fit the model again`, async () => {
    const model = trained(await AutoModelForCausalLM.fromPretrained(fileOf(type)));
    const scores = model.call(ids).logits.arraySync();
    const fresh = await AutoModelForCausalLM.fromPretrained(fileOf(type));
    const again = await PeftModel.fromPretrained(fresh, await model.savePretrained());
    assert.ok(distance(again.call(ids).logits, scores) < 1e-6);
  });
}

// The file of the model with what llama.cpp adds to its matrices: alpha / rank B A, for llama.cpp's names and orders of rows.
function merged(file, adapter) {
  const { metadata, tensors } = readGguf(adapter);
  assert.equal(metadata["general.type"], "adapter");
  assert.equal(metadata["adapter.type"], "lora");
  const base = readGguf(file);
  for (const [name, { shape, values }] of Object.entries(tensors)) {
    if (!name.endsWith(".lora_a")) continue;
    const weight = base.tensors[name.replace(".lora_a", "")];
    const b = tensors[name.replace("lora_a", "lora_b")];
    const [rank, columns] = shape;
    const scale = metadata["adapter.lora.alpha"].value / rank;
    weight.values.forEach((_, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      for (let k = 0; k < rank; k++) {
        weight.values[i] += scale * b.values[row * rank + k] * values[k * columns + column];
      }
    });
  }
  const written = Object.entries(base.tensors).map(([name, { shape, values }]) => [
    name,
    { type: "F32", shape, bytes: new Uint8Array(values.buffer) },
  ]);
  return ggufFile({ metadata: base.metadata, tensors: Object.fromEntries(written) });
}

describe("llama.cpp's file of an adapter makes the same model:", () => {
  for (const [name, options] of [
    ["one rank", {}],
    ["several ranks, and the scale of rsLoRA", { rankPattern: { q_proj: 3 }, useRslora: true }],
  ]) {
    test(`llama, ${name}`, async () => {
      const model = trained(await AutoModelForCausalLM.fromPretrained(fileOf("F32")), options);
      const scores = model.call(ids).logits.arraySync();
      const adapter = await model.saveGguf();
      const whole = await AutoModelForCausalLM.fromPretrained(merged(fileOf("F32"), adapter));
      assert.ok(distance(whole.call(ids).logits, scores) < 1e-5);
    });
  }

  for (const [name, architecture] of [
    ["gpt2", "gpt2"],
    ["gpt_neox", "gptneox"],
    ["qwen3", "qwen3"],
    ["phi3", "phi3"],
  ]) {
    test(name, async () => {
      const { config, shapes } = kDecoders[name];
      const heads = config.num_attention_heads ?? config.n_head;
      const file = ggufFile({
        metadata: ggufMetadata(architecture, config),
        tensors: ggufTensors(architecture, drawWeights(shapes).arrays, {
          heads,
          groups: config.num_key_value_heads,
        }),
      });
      const given = eg.tensor([idsOf(6, config.vocab_size)], { dtype: "int64" });
      eg.manualSeed(3);
      const base = await AutoModelForCausalLM.fromPretrained(file);
      const random = new LoraConfig({ r: 2, targetModules: "all-linear", initLoraWeights: false });
      const model = getPeftModel(base, random);
      const scores = model.call(given).logits.arraySync();
      const whole = await AutoModelForCausalLM.fromPretrained(merged(file, await model.saveGguf()));
      assert.ok(distance(whole.call(given).logits, scores) < 1e-5);
    });
  }
});

test("adapters that llama.cpp has no form of are refused", async () => {
  const open = () => AutoModelForCausalLM.fromPretrained(fileOf("F32"));
  const refused = async (options, message) => {
    const model = getPeftModel(await open(), new LoraConfig({ r: 2, ...options }));
    await assert.rejects(model.saveGguf(), (error) => {
      assert.equal(error.code, "InvalidArgument");
      assert.match(error.message, message);
      return true;
    });
  };
  await refused({ targetModules: ["q_proj"], useDora: true }, /useDora/);
  await refused({ targetModules: ["q_proj"], modulesToSave: ["lm_head"] }, /modulesToSave/);
  await refused({ targetModules: ["embed_tokens"] }, /"model\.embed_tokens" has no form/);
  const other = getPeftModel(
    new eg.nn.Sequential(new eg.nn.Linear(2, 2)),
    new LoraConfig({ targetModules: "all-linear" }),
  );
  await assert.rejects(other.saveGguf(), /have no form in GGUF files/);
});
