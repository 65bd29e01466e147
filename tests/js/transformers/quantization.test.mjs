// fromPretrained() with weights of eight and four bits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getPeftModel, LoraConfig, PeftModel } from "edgegrad/peft";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDecoders } from "../support/plain_decoders.mjs";
import { drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const kBits = { int8: 8, int4: 4 };

function opened(name) {
  const { config, shapes } = kDecoders[name];
  const tied = { ...config, tie_word_embeddings: true };
  const { "lm_head.weight": _, ...others } = shapes;
  const { tensors } = drawWeights(others);
  const files = filesOf(tied, tensors);
  const ids = eg.tensor([idsOf(7, config.vocab_size)], { dtype: "int64" });
  return { files, ids, tensors };
}

// The same model with the numbers that the codes stand for.
function rounded(tensors, quantization, isTransposed, tables) {
  const matrix = (weight, bits) => {
    const groupSize = bits === 4 ? 32 : null;
    const [codes, scale] = eg.quantize(weight, bits, groupSize);
    return eg.dequantize(codes, scale, bits, groupSize).narrow(1, 0, weight.shape[1]);
  };
  return Object.fromEntries(
    Object.entries(tensors).map(([name, weight]) => {
      if (tables.test(name)) return [name, matrix(weight, 8)];
      if (weight.ndim < 2 || /wpe/.test(name)) return [name, weight];
      const bits = kBits[quantization];
      return [
        name,
        isTransposed ? matrix(weight.t(), bits).t().contiguous() : matrix(weight, bits),
      ];
    }),
  );
}

for (const [name, isTransposed, tables] of [
  ["llama", false, /embed_tokens/],
  ["gpt2", true, /wte/],
]) {
  const { files, ids, tensors } = opened(name);
  const config = JSON.parse(files["config.json"]);

  for (const quantization of ["int8", "int4"]) {
    describe(`${name} with ${quantization}`, () => {
      test("computes with the numbers of its codes", async () => {
        const plain = filesOf(config, rounded(tensors, quantization, isTransposed, tables));
        const expected = await AutoModelForCausalLM.fromPretrained(plain);
        const model = await AutoModelForCausalLM.fromPretrained(files, { quantization });
        const close = { rtol: 1e-4, atol: 1e-4 };
        eg.testing.assertClose(model.call(ids).logits, expected.call(ids).logits, close);
        const written = await model.generate(ids, { maxNewTokens: 5, eosTokenId: null });
        assert.deepEqual(
          written.tolist(),
          (await expected.generate(ids, { maxNewTokens: 5, eosTokenId: null })).tolist(),
        );
        assert.match(String(model), new RegExp(`bits=${kBits[quantization]}`));
      });

      test("reports the bytes of each tensor as they arrive", async () => {
        const last = new Map();
        const onProgress = ({ name: key, loaded, total }) => last.set(key, [loaded, total]);
        await AutoModelForCausalLM.fromPretrained(files, { quantization, onProgress });
        assert.deepEqual([...last.keys()].sort(), Object.keys(tensors).sort());
        for (const [key, weight] of Object.entries(tensors)) {
          assert.deepEqual(last.get(key), [4 * weight.numel, 4 * weight.numel], key);
        }
      });

      test("trains adapters, whose files fit the model without quantization", async () => {
        const base = await AutoModelForCausalLM.fromPretrained(files, { quantization });
        eg.manualSeed(1);
        const model = getPeftModel(base, new LoraConfig({ r: 4, targetModules: "all-linear" }));
        const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
        const optimizer = new eg.optim.AdamW(trained, { lr: 0.02 });
        const losses = [];
        for (let i = 0; i < 8; i++) {
          optimizer.zeroGrad();
          const { loss } = model.call(ids, { labels: ids });
          loss.backward();
          optimizer.step();
          losses.push(loss.item());
        }
        assert.ok(losses.at(-1) < 0.8 * losses[0], String(losses));
        const whole = await AutoModelForCausalLM.fromPretrained(files);
        const adapted = await PeftModel.fromPretrained(whole, await model.savePretrained());
        const apart = adapted.call(ids, { labels: ids }).loss.item() - losses.at(-1);
        assert.ok(Math.abs(apart) < 0.3 * losses[0], `${apart}`);
        assert.throws(() => model.merge(), /quantized weights cannot be merged/);
        await assert.rejects(base.savePretrained(), /save its adapter instead/);
      });

      test("takes adapters on its table of words, and refuses to train it itself", async () => {
        const table = name === "llama" ? "embed_tokens" : "wte";
        const load = () => AutoModelForCausalLM.fromPretrained(files, { quantization });
        const model = getPeftModel(await load(), new LoraConfig({ r: 2, targetModules: [table] }));
        const { loss } = model.call(ids, { labels: ids });
        loss.backward();
        const grads = model.parameters().filter(({ grad }) => grad !== null);
        assert.equal(grads.length, 2);
        const saved = new LoraConfig({
          r: 2,
          targetModules: ["c_attn", "q_proj"],
          modulesToSave: [table],
        });
        const again = await load();
        assert.throws(
          () => getPeftModel(again, saved),
          /quantized weights cannot be fully trained/,
        );
      });
    });
  }
}

test("a weight of another shape is refused", async () => {
  const { files, tensors } = opened("llama");
  const key = "model.layers.0.mlp.up_proj.weight";
  const wrong = { ...tensors, [key]: eg.ones([3, 5]) };
  const open = AutoModelForCausalLM.fromPretrained(
    filesOf(JSON.parse(files["config.json"]), wrong),
    { quantization: "int4" },
  );
  await assert.rejects(open, (error) => {
    assert.equal(error.code, "ShapeMismatch");
    assert.match(error.message, /up_proj\.weight: expected \[\d+, \d+\], got \[3, 5\]/);
    return true;
  });
});

test("half precision stays between layers of few bits", async () => {
  const { files, ids } = opened("llama");
  const model = await AutoModelForCausalLM.fromPretrained(files, {
    quantization: "int4",
    dtype: "bfloat16",
  });
  assert.equal(model.call(ids).logits.dtype, "bfloat16");
});
