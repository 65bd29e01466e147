// Models and adapters with PyTorch's numbers (tests/golden/pretrained): scores, losses, texts, ten steps of LoRA, and the files that are written. `want`
// has what PyTorch computed from the same files; rows of padding do not count.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { PeftModel } from "edgegrad/peft";
import { AutoModelForCausalLM, AutoModelForSequenceClassification } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kRoot } from "../support/files.mjs";

const kFolder = join(kRoot, "tests/golden/pretrained");

const filesIn = (folder) =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "want.safetensors")
      .map(({ name }) => [name, new Uint8Array(readFileSync(join(folder, name)))]),
  );

// The largest difference relative to the largest number, in the rows that count.
function difference(own, wanted, mask) {
  const scale = wanted.abs().max();
  const apart = own.detach().sub(wanted).abs().div(scale);
  return (mask ? apart.mul(mask.unsqueeze(-1)) : apart).max().item();
}

for (const name of ["bert", "gpt2", "llama"]) {
  describe(name, () => {
    const folder = join(kFolder, name);
    const want = eg.io.loadSafetensors(
      new Uint8Array(readFileSync(join(folder, "want.safetensors"))),
    );
    const isCausal = name !== "bert";
    const auto = isCausal ? AutoModelForCausalLM : AutoModelForSequenceClassification;
    const { ids, labels, mask } = want;
    const options = { attentionMask: mask, labels };
    const kept = isCausal ? mask : null;
    const open = () => auto.fromPretrained(folder, { dtype: "float32" });
    const adapter = filesIn(join(folder, "adapter"));
    const apart = (model, wanted) => difference(model.call(ids, options).logits, wanted, kept);

    test("computes PyTorch's scores and loss", async () => {
      const model = await open();
      assert.ok(apart(model, want.logits) < 1e-5);
      eg.testing.assertClose(model.call(ids, options).loss, want.loss, { rtol: 1e-5, atol: 1e-6 });
    });

    const textTest = isCausal ? test : () => {};
    textTest("writes PyTorch's text", async () => {
      const model = await open();
      const text = await model.generate(ids.narrow(0, 0, 1), {
        maxNewTokens: 12,
        eosTokenId: null,
      });
      assert.deepEqual(text.arraySync(), want.greedy.arraySync());
    });

    test("trains an adapter as PyTorch does", async () => {
      const model = await PeftModel.fromPretrained(await open(), adapter, { isTrainable: true });
      assert.ok(apart(model, want.adapted) < 1e-5);
      const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
      const optimizer = new eg.optim.AdamW(trained, { lr: 1e-2, weightDecay: 0.01 });
      for (const wanted of want.losses.arraySync()) {
        const { loss } = model.call(ids, options);
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        assert.ok(
          Math.abs(loss.item() - wanted) < 2e-4 * Math.abs(wanted),
          `${loss.item()} for ${wanted}`,
        );
      }
      assert.ok(apart(model, want.tuned) < 2e-3);

      const saved = await model.savePretrained();
      const keys = (files) =>
        Object.keys(eg.io.loadSafetensors(files["adapter_model.safetensors"])).sort();
      assert.deepEqual(keys(saved), keys(adapter));
      const configOf = (files) =>
        JSON.parse(new TextDecoder().decode(files["adapter_config.json"]));
      const { r, lora_alpha, target_modules, fan_in_fan_out, base_model_name_or_path } =
        configOf(saved);
      assert.deepEqual(
        { r, lora_alpha, target_modules, fan_in_fan_out, base_model_name_or_path },
        {
          r: 4,
          lora_alpha: 8,
          target_modules: configOf(adapter).target_modules,
          fan_in_fan_out: name === "gpt2",
          base_model_name_or_path: name,
        },
      );
      const tuned = model.call(ids, options).logits;
      const again = await PeftModel.fromPretrained(await open(), saved);
      assert.ok(apart(again, tuned) < 1e-6);
      assert.deepEqual(again.trainableParameters().trainable, 0);

      const merged = again.mergeAndUnload();
      assert.ok(apart(merged, tuned) < 1e-5);
      const files = await merged.savePretrained();
      const tensors = (bytes) => Object.keys(eg.io.loadSafetensors(bytes)).sort();
      const original = filesIn(folder);
      assert.deepEqual(tensors(files["model.safetensors"]), tensors(original["model.safetensors"]));
      assert.ok(apart(await auto.fromPretrained(files), tuned) < 1e-5);
    });

    test("trains an adapter on weights of eight bits", async () => {
      const base = await auto.fromPretrained(folder, { quantization: "int8" });
      assert.ok(apart(base, want.logits) < 0.05);
      const model = await PeftModel.fromPretrained(base, adapter, { isTrainable: true });
      const before = model.call(ids, options).loss;
      const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
      const optimizer = new eg.optim.AdamW(trained, { lr: 1e-2 });
      for (let i = 0; i < 5; i++) {
        optimizer.zeroGrad();
        model.call(ids, options).loss.backward();
        optimizer.step();
      }
      const after = model.call(ids, options).loss;
      const [first, , , , , last] = want.losses.arraySync();
      assert.ok(Math.abs(before.item() - first) < 0.02 * first);
      assert.ok(Math.abs(after.item() - last) < 0.05 * first);
      assert.throws(() => model.merge(), /quantized weights cannot be merged/);
      await assert.rejects(base.savePretrained(), /save its adapter instead/);
    });
  });
}
