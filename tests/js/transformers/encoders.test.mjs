// Models that read texts, images and speech: what they compute is what their formulas give on plain numbers (support/plain_encoders.mjs and
// support/plain_seq2seq.mjs).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AutoModel,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  KeyValueCache,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kClip, kMaskedModels, kTextClassifiers, kVit } from "../support/plain_encoders.mjs";
import { kMoonshine, kT5, kWhisper } from "../support/plain_seq2seq.mjs";
import {
  crossEntropyOf,
  distance,
  drawWeights,
  filesOf,
  idsOf,
  slopeDistance,
} from "../support/pretrained.mjs";

const kTolerance = 2e-5;
const ids64 = (lists) => eg.tensor(lists, { dtype: "int64" });
const argmax = (row) => row.indexOf(Math.max(...row));

for (const [name, { config, shapes, logits }] of Object.entries(kTextClassifiers)) {
  describe(`classifiers of texts: ${name}`, () => {
    const { tensors, arrays } = drawWeights(shapes);
    const opening = AutoModelForSequenceClassification.fromPretrained(filesOf(config, tensors));
    const pad = config.pad_token_id ?? 0;
    const texts = [idsOf(7, 20).map((id) => id + 2), idsOf(4, 20, 5).map((id) => id + 2)];
    const [long, short] = texts.map((text) => logits(arrays, text));
    const padded = ids64([texts[0], [...texts[1], pad, pad, pad]]);
    const attentionMask = ids64([
      [1, 1, 1, 1, 1, 1, 1],
      [1, 1, 1, 1, 0, 0, 0],
    ]);

    test("have the scores of their formulas, also beside padding", async () => {
      const model = await opening;
      const { logits: own } = model.call(padded, { attentionMask });
      assert.ok(distance(own, [long, short]) < kTolerance);
    });

    test("have the gradients of their formulas", async () => {
      const model = await AutoModelForSequenceClassification.fromPretrained(
        filesOf(config, tensors),
      );
      model.call(ids64([texts[0]]), { labels: ids64([1]) }).loss.backward();
      const lossOf = (w) => crossEntropyOf([logits(w, texts[0])], [1]);
      assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
    });

    test("have the loss that fits the labels", async () => {
      const model = await opening;
      const scores = model.call(padded, { attentionMask }).logits;
      const lossOf = (labels) => model.call(padded, { attentionMask, labels }).loss;
      const classes = ids64([2, 0]);
      eg.testing.assertClose(lossOf(classes), eg.crossEntropy(scores, classes));
      const several = eg.tensor([
        [1, 0, 1],
        [0, 0, 1],
      ]);
      eg.testing.assertClose(lossOf(several), eg.binaryCrossEntropyWithLogits(scores, several));
      const problem = { ...config, problem_type: "regression" };
      const regression = await AutoModelForSequenceClassification.fromPretrained(
        filesOf(problem, tensors),
      );
      const { loss } = regression.call(padded, { attentionMask, labels: several });
      eg.testing.assertClose(loss, eg.mseLoss(scores, several));
    });

    test("share their layers with the model without a head", async (t) => {
      t.mock.method(console, "warn", () => {});
      const features = await AutoModel.fromPretrained(filesOf(config, tensors));
      const { lastHiddenState } = features.call(padded, { attentionMask });
      assert.deepEqual(lastHiddenState.shape, [2, 7, 12]);
      assert.ok(features.namedParameters().some(([one]) => one.startsWith("embeddings.")));
    });

    test("refuse what they have no use for", async () => {
      const model = await opening;
      assert.throws(() => model.call(padded, { useCache: true }), /unknown option "useCache"/);
      // Rotary positions and distances have no limit.
      if (config.model_type === "modernbert" || config.position_biased_input === false) return;
      assert.throws(() => model.call(ids64([idsOf(40, 20)])), /more than the 1[46] positions/);
    });
  });
}

for (const [name, { config, shapes, logits, head }] of Object.entries(kMaskedModels)) {
  describe(`models that predict hidden tokens: ${name}`, () => {
    const { tensors, arrays } = drawWeights(shapes);
    const text = idsOf(6, 20).map((id) => id + 2);
    const open = (given, more = {}) =>
      AutoModelForMaskedLM.fromPretrained(filesOf({ ...config, ...more }, given));

    test("have the scores of their formulas, and the loss of the labels that count", async () => {
      const model = await open(tensors);
      const labels = ids64([[-100, 4, -100, -100, 9, -100]]);
      const { logits: own, loss } = model.call(ids64([text]), { labels });
      const wanted = logits(arrays, text);
      assert.ok(distance(own, wanted) < kTolerance);
      const lossAt = (place, label) => {
        const sum = wanted[place].reduce((total, one) => total + Math.exp(one), 0);
        return Math.log(sum) - wanted[place][label];
      };
      const mean = (lossAt(1, 4) + lossAt(4, 9)) / 2;
      assert.ok(Math.abs(loss.item() - mean) < 1e-4);
      assert.throws(
        () => model.call(ids64([text]), { labels: ids64([[1]]) }),
        /the shape \[1, 6\]/,
      );
    });

    test("read files that have the vectors of words twice, and write them as they were", async () => {
      const [second, first] = head;
      const model = await open({ ...tensors, [second]: tensors[first] });
      assert.ok(distance(model.call(ids64([text])).logits, logits(arrays, text)) < kTolerance);
      const saved = await model.savePretrained();
      const keys = Object.keys(eg.io.loadSafetensors(saved["model.safetensors"]));
      assert.deepEqual(keys.sort(), [...Object.keys(shapes), second].sort());
    });

    test("train one matrix of words, or two that are not tied", async () => {
      const count = (model) => model.parameters().length;
      const [second, first] = head;
      const own = { ...tensors, [second]: tensors[first].add(1) };
      const [tied, untied] = [await open(tensors), await open(own, { tie_word_embeddings: false })];
      assert.equal(count(untied), count(tied) + 1);
      tied
        .call(ids64([text]))
        .logits.sum()
        .backward();
      assert.ok(tied.parameters().every((one) => one.grad !== null));
    });
  });
}

test("ViT has the scores of its formulas", async () => {
  const { config, shapes, logits } = kVit;
  const { tensors, arrays } = drawWeights(shapes);
  const model = await AutoModelForImageClassification.fromPretrained(filesOf(config, tensors));
  const pixels = eg.randn([2, 3, 6, 6], { generator: new eg.Generator(4) });
  const labels = ids64([1, 0]);
  const { logits: own, loss } = model.call(pixels, { labels });
  assert.ok(
    distance(
      own,
      pixels.arraySync().map((image) => logits(arrays, image)),
    ) < kTolerance,
  );
  eg.testing.assertClose(loss, eg.crossEntropy(own, labels));
  assert.throws(() => model.call(eg.ones([1, 3, 5, 6])), /resize the images/);
});

test("CLIP compares texts and images as its formulas do", async () => {
  const { config, shapes, logits } = kClip;
  const { tensors, arrays } = drawWeights(shapes);
  const model = await AutoModel.fromPretrained(filesOf(config, tensors));
  const pixelValues = eg.randn([3, 3, 6, 6], { generator: new eg.Generator(4) });
  const texts = [
    [3, 5, 19, 7],
    [11, 2, 8, 19],
    [4, 19, 0, 0],
  ];
  const output = model.call(ids64(texts), { pixelValues, returnLoss: true });
  const wanted = logits(arrays, texts, pixelValues.arraySync());
  assert.ok(distance(output.logitsPerText, wanted) < kTolerance);
  const own = ids64([0, 1, 2]);
  const both = eg
    .crossEntropy(output.logitsPerText, own)
    .add(eg.crossEntropy(output.logitsPerImage, own));
  eg.testing.assertClose(output.loss, both.div(2));
});

for (const [name, { config, shapes, logits }] of Object.entries(kT5)) {
  describe(name, () => {
    const { tensors, arrays } = drawWeights(shapes, 1, 0.2);
    const opening = AutoModelForSeq2SeqLM.fromPretrained(filesOf(config, tensors));
    const ids = idsOf(30, 21, 2);
    const written = [0, ...idsOf(24, 21, 4)];

    test("has the scores of its formulas, at far distances too", async () => {
      const model = await opening;
      const { logits: own } = model.call(ids64([ids]), { decoderInputIds: ids64([written]) });
      assert.ok(distance(own, logits(arrays, ids, written)) < kTolerance);
    });

    test("writes the best of several texts for each input, which they share", async () => {
      const model = await opening;
      const inputs = [ids.slice(0, 6), ids.slice(3, 7)];
      const found = inputs.map((input) => {
        let beams = [{ row: [0], score: 0 }];
        for (let i = 0; i < 3; i++) {
          const next = beams.flatMap(({ row, score }) => {
            const scores = logits(arrays, input, row).at(-1);
            const sum = Math.log(scores.reduce((all, one) => all + Math.exp(one), 0));
            return scores.map((one, token) => ({ row: [...row, token], score: score + one - sum }));
          });
          beams = next.sort((a, b) => b.score - a.score).slice(0, 3);
        }
        return beams[0].row;
      });
      const own = await model.generate(ids64([inputs[0], [...inputs[1], 0, 0]]), {
        attentionMask: ids64([
          [1, 1, 1, 1, 1, 1],
          [1, 1, 1, 1, 0, 0],
        ]),
        numBeams: 3,
        maxNewTokens: 3,
        eosTokenId: null,
      });
      assert.deepEqual(own.arraySync(), found);
      const cache = new KeyValueCache();
      const kept = model.generate(ids64([inputs[0]]), { pastKeyValues: cache });
      await assert.rejects(kept, /begins with a cache of its own/);
    });

    test("takes the labels, one place later, for what was written; and reads no padding", async () => {
      const model = await opening;
      const labels = ids64([[...written.slice(1, 4), -100]]);
      const attentionMask = ids64([[...ids.map(() => 1), 0]]);
      const { logits: own, loss } = model.call(ids64([[...ids, 3]]), { attentionMask, labels });
      assert.ok(distance(own, logits(arrays, ids, written.slice(0, 4))) < kTolerance);
      eg.testing.assertClose(loss, eg.crossEntropy(own.at(0), labels.at(0)));
    });

    test("writes the text of the best scores", async () => {
      const model = await opening;
      const text = [0];
      for (let i = 0; i < 5; i++) text.push(argmax(logits(arrays, ids, text).at(-1)));
      const own = await model.generate(ids64([ids]), { maxNewTokens: 5, eosTokenId: null });
      assert.deepEqual(own.arraySync(), [text]);
    });

    test("writes files from which it is read again", async () => {
      const files = await (await opening).savePretrained();
      const saved = Object.keys(eg.io.loadSafetensors(files["model.safetensors"]));
      assert.deepEqual(saved.sort(), Object.keys(shapes).sort());
    });
  });
}

describe("Whisper", () => {
  const { config, shapes, logits } = kWhisper;
  const { tensors, arrays } = drawWeights(shapes);
  const features = eg.randn([1, 4, 10], { generator: new eg.Generator(4) });
  const [spectrogram] = features.arraySync();

  test("has the scores of its formulas", async () => {
    const model = await AutoModelForSpeechSeq2Seq.fromPretrained(filesOf(config, tensors));
    const written = [1, 5, 9, 2];
    const { logits: own } = model.call(features, { decoderInputIds: ids64([written]) });
    assert.ok(distance(own, logits(arrays, spectrogram, written)) < kTolerance);
    assert.throws(() => model.call(eg.ones([1, 4, 9]), { labels: ids64([[1]]) }), /Pad or crop/);
  });

  test("writes the text of the best scores, without the tokens that its files forbid", async () => {
    const text = [1];
    for (let i = 0; i < 4; i++) {
      const row = logits(arrays, spectrogram, text).at(-1);
      if (i === 0) row[argmax(row)] = -Infinity;
      text.push(argmax(row));
    }
    const [forbidden] = [argmax(logits(arrays, spectrogram, [1]).at(-1))];
    const generation = { begin_suppress_tokens: [forbidden], decoder_start_token_id: 1 };
    const files = filesOf(config, tensors, {
      "generation_config.json": JSON.stringify(generation),
    });
    const model = await AutoModelForSpeechSeq2Seq.fromPretrained(files);
    const own = await model.generate(features, { maxNewTokens: 4, eosTokenId: null });
    assert.deepEqual(own.arraySync(), [text]);
  });

  // Tokens: 2 ends, 3 to 5 are languages, 6 and 7 tasks, 8 says that there are no times, and 9 to 17 are times.
  const generation = {
    decoder_start_token_id: 1,
    eos_token_id: 2,
    is_multilingual: true,
    lang_to_id: { "<|en|>": 3, "<|de|>": 4, "<|fr|>": 5 },
    task_to_id: { transcribe: 6, translate: 7 },
    no_timestamps_token_id: 8,
    max_initial_timestamp_index: 2,
  };
  const open = (values) =>
    AutoModelForSpeechSeq2Seq.fromPretrained(
      filesOf(config, tensors, { "generation_config.json": JSON.stringify(values) }),
    );
  const scoresAfter = (text) => logits(arrays, spectrogram, text).at(-1);
  const options = { maxNewTokens: 3, eosTokenId: null };

  test("begins with a language, given or recognized, and a task", async () => {
    const model = await open(generation);
    const textAfter = (start) => {
      const text = [...start];
      for (let i = 0; i < 3; i++) text.push(argmax(scoresAfter(text)));
      return [text];
    };
    const rows = async (more) =>
      (await model.generate(features, { ...options, ...more })).arraySync();
    assert.deepEqual(await rows({ language: "de", task: "translate" }), textAfter([1, 4, 7, 8]));
    assert.deepEqual(await rows({ language: "<|fr|>" }), textAfter([1, 5, 6, 8]));
    const found = 3 + argmax(scoresAfter([1]).slice(3, 6));
    assert.deepEqual(await rows({}), textAfter([1, found, 6, 8]));
    const beams = await rows({ numBeams: 18, maxNewTokens: 1, language: "en" });
    assert.deepEqual(beams, [textAfter([1, 3, 6, 8])[0].slice(0, 5)]);
    await assert.rejects(rows({ language: "xx" }), /expected one of en, de, fr, got "xx"/);
    const old = await open({
      decoder_start_token_id: 1,
      forced_decoder_ids: [
        [2, 6],
        [1, 4],
      ],
    });
    assert.deepEqual((await old.generate(features, options)).arraySync(), textAfter([1, 4, 6]));
    await assert.rejects(old.generate(features, { language: "de" }), /has no lang_to_id/);
  });

  test("writes times in pairs and in order", async () => {
    const model = await open(generation);
    const text = [1, 3, 6];
    const isTime = (token) => token >= 9;
    for (let i = 0; i < 6; i++) {
      const row = scoresAfter(text);
      const own = text.slice(3);
      const last = own.at(-1);
      row[8] = -Infinity;
      const isOpen = own.length > 1 && isTime(last) && !isTime(own.at(-2));
      row.forEach((_, token) => {
        const times = own.filter(isTime);
        const isHidden =
          (own.length === 0 && (!isTime(token) || token > 11)) ||
          (isOpen && token < 2) ||
          (isTime(last) && !isOpen && isTime(token)) ||
          (times.length > 0 &&
            isTime(token) &&
            (isOpen ? token < times.at(-1) : token <= times.at(-1)));
        if (isHidden) row[token] = -Infinity;
      });
      const sum = row.slice(9).reduce((all, one) => all + Math.exp(one), 0);
      if (Math.log(sum) > Math.max(...row.slice(0, 9))) row.fill(-Infinity, 0, 9);
      text.push(argmax(row));
    }
    const given = { language: "en", returnTimestamps: true, maxNewTokens: 6, eosTokenId: null };
    assert.deepEqual((await model.generate(features, given)).arraySync(), [text]);
    assert.ok(isTime(text[3]) && text[3] <= 11);
    const { no_timestamps_token_id: _, ...without } = generation;
    const other = await open(without);
    await assert.rejects(other.generate(features, given), /has no no_timestamps_token_id/);
  });
});

describe("Moonshine", () => {
  const { config, shapes, logits } = kMoonshine;
  const { tensors, arrays } = drawWeights(shapes, 1, 0.3);
  const samples = eg.randn([1, 127 + 64 * 40], { generator: new eg.Generator(4) });
  const [recording] = samples.arraySync();
  const open = () => AutoModelForSpeechSeq2Seq.fromPretrained(filesOf(config, tensors));

  test("has the scores and gradients of its formulas", async () => {
    const model = await open();
    const written = [1, 5, 9, 2];
    const labels = ids64([[5, 9, 2, 7]]);
    const { logits: own, loss } = model.call(samples, { labels });
    assert.ok(distance(own, logits(arrays, recording, written)) < kTolerance);
    loss.backward();
    const lossOf = (w) => crossEntropyOf(logits(w, recording, written), [5, 9, 2, 7]);
    assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
    assert.throws(() => model.call(eg.ones([1, 100]), { labels }), /at least 895 samples, got 100/);
    assert.throws(() => model.call(eg.ones([1, 4, 9]), { labels }), /expected samples/);
  });

  test("writes the text of the best scores", async () => {
    const model = await open();
    const text = [1];
    for (let i = 0; i < 4; i++) text.push(argmax(logits(arrays, recording, text).at(-1)));
    const options = { maxNewTokens: 4, eosTokenId: null };
    assert.deepEqual((await model.generate(samples, options)).arraySync(), [text]);
    await assert.rejects(model.generate(samples, { language: "en" }), /unknown option "language"/);
  });

  test("does not see padding after the recording, but for the norm of all samples", async () => {
    const model = await open();
    const length = samples.shape[1];
    const padded = eg.cat([samples, eg.zeros([1, 1152])], 1);
    const attentionMask = eg.cat([eg.ones([1, length]), eg.zeros([1, 1152])], 1);
    const decoderInputIds = ids64([[1, 5]]);
    const scores = (mask) => model.call(padded, { decoderInputIds, attentionMask: mask }).logits;
    assert.ok(scores(attentionMask).sub(scores(null)).abs().max().item() > 1e-4);
    const all = eg.ones([1, length + 1152]);
    eg.testing.assertClose(scores(all), scores(null));
  });
});
