// Pretrained models on the device: PyTorch's scores and texts, an adapter that is trained there, weights of eight bits, sampling.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { PeftModel } from "edgegrad/peft";
import { AutoModelForCausalLM, AutoModelForImageTextToText, fit } from "edgegrad/transformers";
import { kRoot } from "../../js/support/files.mjs";
import { kGemma3 } from "../../js/support/plain_gemma3.mjs";
import { drawWeights, filesOf } from "../../js/support/pretrained.mjs";
import { eg, options } from "../support/engine.mjs";

const kFolder = join(kRoot, "tests/golden/pretrained");
const device = "webgpu";

describe("a language model on the device", options, () => {
  for (const name of ["gpt2", "llama"]) {
    const folder = join(kFolder, name);
    const open = (more) => AutoModelForCausalLM.fromPretrained(folder, { device, ...more });
    const wanted = () => {
      return eg.io.loadSafetensors(new Uint8Array(readFileSync(join(folder, "want.safetensors"))));
    };

    async function far(model, { ids, mask }, scores) {
      const inputs = { attentionMask: mask.to(device) };
      const { logits } = model.call(ids.to(device), inputs);
      const apart = logits.detach().to("cpu").sub(scores).abs().mul(mask.unsqueeze(-1));
      return apart.max().div(scores.abs().max()).item();
    }

    test(`${name} has PyTorch's scores, and reads one token per step of a text`, async () => {
      const want = wanted();
      const model = await open();
      assert.equal(model.device, device);
      assert.ok((await far(model, want, want.logits)) < 1e-4);
      const prompt = want.ids.narrow(0, 0, 1).to(device);
      const before = eg.webgpuStats().readbacks;
      const text = await model.generate(prompt, { maxNewTokens: 12, eosTokenId: null });
      // The prompt, and each token.
      assert.equal(eg.webgpuStats().readbacks - before, 13);
      assert.equal(text.device, device);
      assert.deepEqual(await text.array(), want.greedy.arraySync());
      const drawn = await model.generate(prompt, {
        maxNewTokens: 3,
        doSample: true,
        topK: 5,
        topP: 0.9,
      });
      assert.equal(drawn.shape[1], prompt.shape[1] + 3);
    });

    test(`${name} trains an adapter, also on weights of eight bits`, async () => {
      const want = wanted();
      const [first, second] = want.losses.arraySync();
      for (const [more, tolerance] of [
        [{}, 1e-4],
        [{ quantization: "int8" }, 0.02],
      ]) {
        const model = await PeftModel.fromPretrained(await open(more), join(folder, "adapter"), {
          isTrainable: true,
        });
        const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
        const optimizer = new eg.optim.AdamW(trained, { lr: 1e-2, weightDecay: 0.01 });
        const [ids, attentionMask, labels] = [want.ids, want.mask, want.labels].map((one) =>
          one.to(device),
        );
        for (const wantedLoss of [first, second]) {
          const { loss } = model.call(ids, { attentionMask, labels });
          optimizer.zeroGrad();
          await loss.backwardAsync();
          optimizer.step();
          assert.ok(Math.abs((await loss.itemAsync()) - wantedLoss) < tolerance * wantedLoss);
        }
      }
    });
  }

  test("a model sees images there, and reads nothing from the device for it", async () => {
    const { config, shapes } = kGemma3;
    const files = filesOf(config, drawWeights(shapes).tensors);
    const [own, other] = [
      await AutoModelForImageTextToText.fromPretrained(files, { device }),
      await AutoModelForImageTextToText.fromPretrained(files),
    ];
    const text = [2, 16, 18, 18, 18, 18, 17, 9, 4, 16, 18, 18, 18, 18, 17, 11];
    const ids = eg.tensor([text], { dtype: "int64" });
    const pixels = eg.randn([2, 3, 12, 12], { generator: new eg.Generator(5) });
    const given = { pixelValues: pixels.to(device), labels: ids.to(device) };
    const before = eg.webgpuStats().readbacks;
    const { logits, loss } = own.call(ids.to(device), given);
    await loss.backwardAsync();
    assert.equal(eg.webgpuStats().readbacks, before);
    const wanted = other.call(ids, { pixelValues: pixels, labels: ids });
    wanted.loss.backward();
    const near = { rtol: 1e-3, atol: 1e-4 };
    eg.testing.assertClose(logits.to("cpu"), wanted.logits, near);
    const slopes = new Map(other.namedParameters());
    for (const [name, { grad }] of own.namedParameters()) {
      eg.testing.assertClose(grad.to("cpu"), slopes.get(name).grad, near);
    }
    const settings = { maxNewTokens: 4, eosTokenId: null };
    const told = await own.generate(ids.to(device), {
      pixelValues: pixels.to(device),
      ...settings,
    });
    const expected = await other.generate(ids, { pixelValues: pixels, ...settings });
    assert.deepEqual(await told.array(), expected.arraySync());
  });

  test("fit() moves batches to the model's device", async () => {
    const folder = join(kFolder, "llama");
    const want = eg.io.loadSafetensors(readFileSync(join(folder, "want.safetensors")));
    const base = await AutoModelForCausalLM.fromPretrained(folder, { device });
    const model = await PeftModel.fromPretrained(base, join(folder, "adapter"), {
      isTrainable: true,
    });
    const trained = model.parameters().filter(({ requiresGrad }) => requiresGrad);
    const optimizer = new eg.optim.AdamW(trained, { lr: 1e-2, weightDecay: 0.01 });
    const batch = { inputIds: want.ids, attentionMask: want.mask, labels: want.labels };
    const { loss } = await fit(model, [batch], { optimizer, epochs: 2 });
    const wanted = want.losses.arraySync()[1];
    assert.ok(Math.abs(loss - wanted) < 1e-4 * wanted);
  });
});
