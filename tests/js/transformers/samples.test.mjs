// Feature extractors of models that read samples: their numbers are those of the formulas on plain arrays.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoFeatureExtractor, WhisperFeatureExtractor } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";

const kValues = { feature_extractor_type: "Wav2Vec2FeatureExtractor", feature_size: 1 };
const open = (values) =>
  AutoFeatureExtractor.fromPretrained({
    "preprocessor_config.json": JSON.stringify({ ...kValues, ...values }),
  });

const kLong = Array.from({ length: 9 }, (_, i) => Math.sin(3 * i) / 2);
const kShort = [0.25, -0.5, 0.125];
const rate = { samplingRate: 16000 };

function normalized(numbers) {
  const mean = numbers.reduce((all, one) => all + one, 0) / numbers.length;
  const variance = numbers.reduce((all, one) => all + (one - mean) ** 2, 0) / numbers.length;
  return numbers.map((one) => (one - mean) / Math.sqrt(variance + 1e-7));
}

const padded = (numbers, filler = 0) => [...numbers, ...new Array(9 - numbers.length).fill(filler)];
const near = (own, rows) =>
  eg.testing.assertClose(own, eg.tensor(rows), { rtol: 1e-5, atol: 1e-6 });

describe("Wav2Vec2FeatureExtractor", () => {
  test("with a mask normalizes each recording, and then pads", async () => {
    const extractor = await open({ return_attention_mask: true, padding_value: 0.5 });
    const { inputs, attentionMask } = extractor.batch([kLong, Float32Array.from(kShort)], rate);
    near(inputs, [normalized(kLong), padded(normalized(kShort), 0.5)]);
    assert.deepEqual(
      attentionMask.arraySync(),
      [new Array(9).fill(1n), padded([1n, 1n, 1n], 0n)].map((row) => row.map(Number)),
    );
  });

  test("without a mask pads, and then normalizes", async () => {
    const extractor = await open({});
    const { inputs, attentionMask } = extractor.batch([kLong, kShort], rate);
    near(inputs, [normalized(kLong), normalized(padded(kShort))]);
    assert.equal(attentionMask, null);
    near(extractor.extract(eg.tensor(kShort), rate), [normalized(kShort)]);
  });

  test("leaves samples as they are for Moonshine, and pads on the left if it has to", async () => {
    const extractor = await open({ do_normalize: false, padding_side: "left" });
    const { inputs } = extractor.batch([kLong, kShort], rate);
    near(inputs, [kLong, [...new Array(6).fill(0), ...kShort]]);
  });

  test("refuses other rates, channels and settings", async () => {
    const extractor = await open({});
    assert.throws(
      () => extractor.extract(kLong, { samplingRate: 8000 }),
      /16000 samples per second/,
    );
    assert.throws(() => extractor.extract([eg.ones([2, 3])], rate), /the samples of one channel/);
    assert.throws(() => extractor.extract([], rate), /expected samples/);
    await assert.rejects(open({ feature_size: 2 }), /feature_size is 2/);
    await assert.rejects(open({ padding_side: "middle" }), /padding_side is "middle"/);
  });
});

test("Whisper's mask is 0 for frames of silence that was added", () => {
  const values = { chunk_length: 1, sampling_rate: 1600, return_attention_mask: true };
  const extractor = new WhisperFeatureExtractor(values);
  const { inputs, attentionMask } = extractor.batch([new Float32Array(500).fill(0.1)], {
    samplingRate: 1600,
  });
  assert.deepEqual(inputs.shape, [1, 80, 10]);
  assert.deepEqual(attentionMask.arraySync(), [[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]]);
});
