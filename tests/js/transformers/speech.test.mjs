// Spectrograms of speech, beside their formulas on plain numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoFeatureExtractor, WhisperFeatureExtractor } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";

// The files of Whisper, with one second in place of thirty.
const kValues = {
  feature_extractor_type: "WhisperFeatureExtractor",
  feature_size: 80,
  sampling_rate: 16000,
  hop_length: 160,
  chunk_length: 1,
  n_fft: 400,
  padding_value: 0,
  processor_class: "WhisperProcessor",
};
const kRate = { samplingRate: 16000 };
const range = (count) => Array.from({ length: count }, (_, i) => i);

function plainFilters(count) {
  const hertz = (mel) => (mel < 15 ? (mel * 200) / 3 : 1000 * 6.4 ** ((mel - 15) / 27));
  const top = 15 + (27 * Math.log(8)) / Math.log(6.4);
  const corners = range(count + 2).map((i) => hertz((i * top) / (count + 1)));
  return range(count).map((i) =>
    range(201).map((bin) => {
      const [low, middle, high] = corners.slice(i, i + 3);
      const f = bin * 40;
      const inside = f <= middle ? (f - low) / (middle - low) : (high - f) / (high - middle);
      return Math.max(0, inside) * (2 / (high - low));
    }),
  );
}

// Of frame 0, 1, ... of samples that are silent before their beginning: none of these tests looks at mirrored ones.
function plainColumn(samples, frame, filters) {
  const start = frame * 160 - 200;
  const window = range(400).map((i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / 400));
  const power = range(201).map((bin) => {
    let [re, im] = [0, 0];
    for (const i of range(400)) {
      const value = (samples[start + i] ?? 0) * window[i];
      re += value * Math.cos((2 * Math.PI * bin * i) / 400);
      im -= value * Math.sin((2 * Math.PI * bin * i) / 400);
    }
    return re * re + im * im;
  });
  return filters.map((row) =>
    Math.log10(
      Math.max(
        1e-10,
        row.reduce((sum, one, bin) => sum + one * power[bin], 0),
      ),
    ),
  );
}

describe("WhisperFeatureExtractor", () => {
  const extractor = new WhisperFeatureExtractor(kValues);
  const samples = Float32Array.from(
    range(9000),
    (i) => 0.4 * Math.sin(i * 0.21) + 0.2 * Math.sin(i * i * 1e-5),
  );

  test("computes the formulas of its spectrogram", () => {
    const filters = plainFilters(80);
    // As in the file of filters that Whisper is published with.
    assert.ok(Math.abs(filters[0][1] - 0.02486259) < 1e-7);
    assert.ok(Math.abs(filters[1][1] - 0.00199082) < 1e-7);
    const own = extractor.extract(samples, kRate);
    assert.deepEqual(own.shape, [1, 80, 100]);
    const logarithms = range(100).map((frame) =>
      frame < 2 ? null : plainColumn(samples, frame, filters),
    );
    const top = Math.max(...logarithms.filter(Boolean).flat());
    const [rows] = own.arraySync();
    for (const frame of [2, 3, 30, 55, 56, 57, 70, 99]) {
      logarithms[frame].forEach((one, i) => {
        const wanted = (Math.max(one, top - 8) + 4) / 4;
        assert.ok(Math.abs(rows[i][frame] - wanted) < 1e-3, `${i} ${frame}`);
      });
    }
  });

  test("takes tensors, lists and several recordings, each with a quietest value of its own", () => {
    const [one, two] = [samples, samples.map((value) => value / 10)];
    const both = extractor.extract([one, eg.tensor([...two])], kRate);
    assert.deepEqual(both.shape, [2, 80, 100]);
    eg.testing.assertClose(both.at(0), extractor.extract([...one], kRate).at(0));
    eg.testing.assertClose(both.at(1).add(0.5), both.at(0), { atol: 1e-3, rtol: 0 });
  });

  test("opens files, and refuses those of other kinds", async () => {
    const open = (values) =>
      AutoFeatureExtractor.fromPretrained({ "preprocessor_config.json": JSON.stringify(values) });
    const opened = await open(kValues);
    assert.deepEqual([opened.samplingRate, opened.featureSize, opened.length], [16000, 80, 16000]);
    for (const [values, message] of [
      [{ feature_extractor_type: "ClapFeatureExtractor" }, /preprocessor_config\.json: feature_/],
      [{ hop_length: 0 }, /hop_length: expected a whole number from 1, got 0/],
      [{ n_fft: 2 ** 30 }, /feature_size and n_fft are too large/],
    ]) {
      await assert.rejects(open({ ...kValues, ...values }), { code: "InvalidArgument", message });
    }
    await assert.rejects(AutoFeatureExtractor.fromPretrained({}), /no preprocessor_config\.json/);
  });

  test("refuses recordings that it would not hear as they are", () => {
    const refuses = (given, message, options = kRate) =>
      assert.throws(() => extractor.extract(given, options), { message });
    refuses(samples, /expected recordings of 16000 samples per second, got 44100/, {
      samplingRate: 44100,
    });
    refuses(samples, /got undefined/, {});
    refuses(new Float32Array(16001), /at most 1 s.*Pass parts of it/);
    refuses(eg.ones([2, 100]), /the samples of one channel, got \[2, 100\]/);
    refuses([], /expected samples, got \[\]/);
    refuses("speech.wav", /expected samples, got "speech\.wav"/);
    refuses(new Float32Array(0), /got \[0\]/);
  });
});
