// Gemma 3 with images against its formulas on plain numbers (support/plain_gemma3.mjs): scores and gradients, with a cache, with padding, and the texts that
// it writes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageTextToText,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kGemma3 } from "../support/plain_gemma3.mjs";
import {
  crossEntropyOf,
  distance,
  drawWeights,
  filesOf,
  slopeDistance,
} from "../support/pretrained.mjs";

const kTolerance = 2e-5;
const { config, shapes, logits } = kGemma3;
const { tensors, arrays } = drawWeights(shapes);
const open = (own = config, weights = tensors, options = {}) =>
  AutoModelForImageTextToText.fromPretrained(filesOf(own, weights), options);
const model = await open();

const rows = (lists) => eg.tensor(lists, { dtype: "int64" });
const pixelValues = eg.randn([3, 3, 12, 12], { generator: new eg.Generator(5) });
const images = pixelValues.arraySync();
const kImage = [18, 18, 18, 18];
// Two images, and one that begins the text.
const kTexts = [
  [2, 16, ...kImage, 17, 9, 4, 16, ...kImage, 17, 11],
  [...kImage, 17, 3, 8, 5, 12, 7, 1, 13, 6, 10, 2, 15],
];
const kWanted = [
  logits(arrays, kTexts[0], images.slice(0, 2)),
  logits(arrays, kTexts[1], images.slice(2)),
];

describe("Gemma 3 with images", () => {
  test("has the scores and gradients of its formulas", async () => {
    const own = await open();
    const ids = rows(kTexts);
    const labels = ids.maskedFill(ids.eq(18), -100);
    const output = own.call(ids, { pixelValues, labels });
    assert.ok(distance(output.logits, kWanted) < kTolerance);
    const lossOf = (w) => {
      const scored = kTexts.map((text, i) => {
        const seen = i === 0 ? images.slice(0, 2) : images.slice(2);
        return logits(w, text, seen).slice(0, -1);
      });
      const next = kTexts.map((text) => text.slice(1).map((id) => (id === 18 ? -100 : id)));
      return crossEntropyOf(scored.flat(), next.flat());
    };
    assert.ok(Math.abs(output.loss.item() - lossOf(arrays)) < 1e-4);
    output.loss.backward();
    assert.ok(own.parameters().every(({ grad }) => grad !== null));
    assert.ok(slopeDistance(own, shapes, arrays, lossOf) < 1e-3);
  });

  test("has the same gradients when layers are computed again", async () => {
    const gradientsOf = async (gradientCheckpointing) => {
      const own = await open(config, tensors, { gradientCheckpointing });
      own.train();
      const ids = rows(kTexts);
      own.call(ids, { pixelValues, labels: ids }).loss.backward();
      return own.parameters().map(({ grad }) => grad);
    };
    const [plain, again] = [await gradientsOf(false), await gradientsOf(true)];
    for (const [i, grad] of plain.entries()) eg.testing.assertClose(again[i], grad);
  });

  test("reads texts without images", () => {
    const text = [3, 8, 5, 12, 7, 1];
    assert.ok(distance(model.call(rows([text])).logits, [logits(arrays, text, [])]) < kTolerance);
  });

  test("has the same scores beside padding", () => {
    const ids = rows([[0, 0, 0, ...kTexts[0].slice(0, 13)], kTexts[1]]);
    const attentionMask = ids.ne(0).to("int64");
    const positionIds = attentionMask.cumsum(1).sub(1).clamp(0);
    const options = { attentionMask, positionIds, pixelValues: pixelValues.narrow(0, 1, 2) };
    // The first text is cut within its second image.
    assert.throws(() => model.call(ids, options), /11 tokens of images.* 2 images of 4 each/);
    const cut = rows([[...new Array(8).fill(0), ...kTexts[0].slice(0, 8)], kTexts[1]]);
    const seen = cut.ne(0).to("int64");
    const own = model.call(cut, {
      attentionMask: seen,
      positionIds: seen.cumsum(1).sub(1).clamp(0),
      pixelValues: eg.stack([pixelValues.at(0), pixelValues.at(2)]),
    }).logits;
    assert.ok(distance(own.at(0).narrow(0, 8, 8), kWanted[0].slice(0, 8)) < kTolerance);
    assert.ok(distance(own.at(1), kWanted[1]) < kTolerance);
  });

  test("has the same scores when tokens and images come in parts", () => {
    eg.noGrad(() => {
      const part = (from, to) => rows([kTexts[0].slice(from, to)]);
      const image = (i) => pixelValues.narrow(0, i, 1);
      const { pastKeyValues, logits: first } = model.call(part(0, 8), {
        pixelValues: image(0),
        useCache: true,
      });
      const { logits: second } = model.call(part(8, 15), { pixelValues: image(1), pastKeyValues });
      const { logits: third } = model.call(part(15), { pastKeyValues });
      assert.ok(distance(eg.cat([first, second, third], 1), [kWanted[0]]) < kTolerance);
    });
  });

  test("writes the texts of the best scores", async () => {
    const argmax = (row) => row.indexOf(Math.max(...row));
    const written = (prompt, seen, count) => {
      const text = [...prompt];
      for (let i = 0; i < count; i++) text.push(argmax(logits(arrays, text, seen).at(-1)));
      return text;
    };
    const options = { maxNewTokens: 4, eosTokenId: null };
    const prompt = kTexts[0];
    const wanted = written(prompt, images.slice(0, 2), 4);
    // A token of images that is generated would have no image.
    assert.ok(!wanted.slice(prompt.length).includes(18));
    const two = pixelValues.narrow(0, 0, 2);
    const generate = (ids, rest) => model.generate(rows(ids), { ...options, ...rest });
    assert.deepEqual((await generate([prompt], { pixelValues: two })).arraySync(), [wanted]);
    const imageFeatures = model.getImageFeatures(two);
    assert.deepEqual(imageFeatures.shape, [2, 4, 16]);
    assert.deepEqual((await generate([prompt], { imageFeatures })).arraySync(), [wanted]);

    // Several texts for each, whose numbers of images differ.
    const short = [0, 0, 0, 0, 0, 0, 0, 0, 0, ...kTexts[1].slice(0, 7)];
    const attentionMask = rows([prompt, short]).ne(0).to("int64");
    const sampled = await generate([prompt, short], {
      pixelValues,
      attentionMask,
      doSample: true,
      topK: 1,
      numReturnSequences: 2,
    });
    const other = [...short.slice(0, 9), ...written(kTexts[1].slice(0, 7), images.slice(2), 4)];
    assert.deepEqual(sampled.arraySync(), [wanted, wanted, other, other]);
    const beams = await generate([prompt], { pixelValues: two, numBeams: 3 });
    assert.deepEqual(beams.shape, [1, prompt.length + 4]);
  });

  test("continues a cache, whose images are not given again", async () => {
    const { pastKeyValues } = eg.noGrad(() =>
      model.call(rows([kTexts[0].slice(0, 8)]), {
        pixelValues: pixelValues.narrow(0, 0, 1),
        useCache: true,
      }),
    );
    const options = { maxNewTokens: 3, eosTokenId: null };
    const whole = await model.generate(rows([kTexts[0]]), {
      ...options,
      pixelValues: pixelValues.narrow(0, 0, 2),
    });
    const continued = await model.generate(rows([kTexts[0]]), {
      ...options,
      pixelValues: pixelValues.narrow(0, 1, 1),
      pastKeyValues,
    });
    assert.deepEqual(continued.arraySync(), whole.arraySync());
  });

  test("writes files from which it is read again, also with newer names", async () => {
    const files = await model.savePretrained();
    assert.deepEqual(JSON.parse(new TextDecoder().decode(files["config.json"])), config);
    const saved = eg.io.loadSafetensors(files["model.safetensors"]);
    assert.deepEqual(Object.keys(saved).sort(), Object.keys(tensors).sort());
    const newer = Object.fromEntries(
      Object.entries(tensors).map(([name, one]) => [
        `model.${name.replace(/^language_model\.model/, "language_model")}`,
        one,
      ]),
    );
    const ids = rows(kTexts);
    for (const own of [
      await AutoModelForImageTextToText.fromPretrained(files),
      await AutoModelForCausalLM.fromPretrained(filesOf(config, newer)),
    ]) {
      assert.ok(distance(own.call(ids, { pixelValues }).logits, kWanted) < kTolerance);
    }
    const features = await AutoModel.fromPretrained(files);
    const { lastHiddenState } = features.call(ids, { pixelValues });
    eg.testing.assertClose(
      eg.linear(lastHiddenState, tensors["language_model.model.embed_tokens.weight"]),
      eg.tensor(kWanted),
      { rtol: 1e-3, atol: 1e-3 },
    );
  });

  test("may have a token of images outside of the vocabulary, and other tokens", async () => {
    const ids = rows(kTexts);
    const far = await open({ ...config, image_token_index: 400 });
    const own = far.call(ids.maskedFill(ids.eq(18), 400), { pixelValues });
    assert.ok(distance(own.logits, kWanted) < kTolerance);
    await far.resizeTokenEmbeddings(23);
    assert.equal(far.config.text_config.vocab_size, 23);
    const { logits: more } = far.call(ids.maskedFill(ids.eq(18), 400), { pixelValues });
    assert.ok(distance(more.narrow(2, 0, 19), kWanted) < kTolerance);
  });

  test("opens the config.json of its files, which leave out most", async () => {
    const published = {
      architectures: ["Gemma3ForConditionalGeneration"],
      boi_token_index: 255999,
      eoi_token_index: 256000,
      eos_token_id: [1, 106],
      image_token_index: 262144,
      initializer_range: 0.02,
      mm_tokens_per_image: 256,
      model_type: "gemma3",
      text_config: {
        hidden_size: 2560,
        intermediate_size: 10240,
        model_type: "gemma3_text",
        num_hidden_layers: 34,
        rope_scaling: { factor: 8, rope_type: "linear" },
        sliding_window: 1024,
      },
      torch_dtype: "bfloat16",
      vision_config: {
        hidden_size: 1152,
        image_size: 896,
        intermediate_size: 4304,
        model_type: "siglip_vision_model",
        num_attention_heads: 16,
        num_hidden_layers: 27,
        patch_size: 14,
        vision_use_head: false,
      },
    };
    await assert.rejects(open(published, {}), /the file has no tensors for model\.vision_tower/);
  });

  test("refuses other numbers of images, and sizes that do not fit", async () => {
    const ids = rows([kTexts[0]]);
    const two = pixelValues.narrow(0, 0, 2);
    assert.throws(() => model.call(ids), /8 tokens of images, and there are 0 images/);
    assert.throws(() => model.call(ids, { pixelValues }), /there are 3 images of 4 each/);
    const imageFeatures = model.getImageFeatures(two);
    assert.throws(() => model.call(ids, { pixelValues: two, imageFeatures }), /got both/);
    const wide = { imageFeatures: imageFeatures.narrow(1, 0, 3) };
    assert.throws(() => model.call(ids, wide), /imageFeatures: expected \[images, 4, size\]/);
    assert.throws(() => model.call(ids, { pixelValues: two.at(0) }), /\[batch, channels, height/);
    await assert.rejects(model.generate(ids), /8 tokens of images, and there are 0 images/);
    await assert.rejects(model.generate(ids, { pixels: two }), /unknown option "pixels"/);
    for (const count of [5, 49]) {
      await assert.rejects(
        open({ ...config, mm_tokens_per_image: count }),
        /6 x 6 patches cannot be pooled to/,
      );
    }
    await assert.rejects(
      open({ ...config, text_config: { ...config.text_config, final_logit_softcapping: 3 } }),
      /text_config\.final_logit_softcapping is 3/,
    );
  });
});
