// Models of images against their formulas on plain numbers, and the processors that make their inputs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  AutoImageProcessor,
  AutoModel,
  AutoModelForImageClassification,
} from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kDinov2, kSiglip } from "../support/plain_images.mjs";
import { range } from "../support/plain_layers.mjs";
import {
  crossEntropyOf,
  distance,
  drawWeights,
  filesOf,
  slopeDistance,
} from "../support/pretrained.mjs";

const kTolerance = 2e-5;
const draw = (shape) => eg.randn(shape, { generator: new eg.Generator(4) });

test("SigLIP compares texts and images as its formulas do", async () => {
  const { config, shapes, logits } = kSiglip;
  const { tensors, arrays } = drawWeights(shapes);
  const model = await AutoModel.fromPretrained(filesOf(config, tensors));
  const pixelValues = draw([2, 3, 6, 6]);
  const texts = [
    [3, 5, 19, 7],
    [11, 2, 8, 1],
  ];
  const ids = eg.tensor(texts, { dtype: "int64" });
  const output = model.call(ids, { pixelValues, returnLoss: true });
  const images = pixelValues.arraySync();
  const wanted = logits(arrays, texts, images);
  assert.ok(distance(output.logitsPerText, wanted) < kTolerance);
  const lossOf = (w) => {
    const rows = logits(w, texts, images);
    const logs = rows.flatMap((row, i) =>
      row.map((one, j) => Math.log(1 + Math.exp(i === j ? -one : one))),
    );
    return logs.reduce((sum, one) => sum + one, 0) / rows.length;
  };
  assert.ok(Math.abs(output.loss.item() - lossOf(arrays)) < 1e-4);
  output.loss.backward();
  assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
  const saved = await AutoModel.fromPretrained(await model.savePretrained());
  eg.testing.assertClose(saved.call(ids, { pixelValues }).logitsPerText, output.logitsPerText);
});

for (const [name, { config, shapes, logits }] of Object.entries(kDinov2)) {
  test(`${name} has the scores and gradients of its formulas, for images of other sizes too`, async () => {
    const { tensors, arrays } = drawWeights(shapes);
    const model = await AutoModelForImageClassification.fromPretrained(filesOf(config, tensors));
    for (const size of [6, 10, 4]) {
      const pixels = draw([1, 3, size, size]);
      const [image] = pixels.arraySync();
      const labels = eg.tensor([1], { dtype: "int64" });
      const { logits: own, loss } = model.call(pixels, { labels });
      assert.ok(distance(own, logits(arrays, image)) < kTolerance, `${size}`);
      for (const one of model.parameters()) one.grad = null;
      loss.backward();
      const lossOf = (w) => crossEntropyOf([logits(w, image)], [1]);
      assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
    }
    const features = await AutoModel.fromPretrained(await model.savePretrained());
    assert.deepEqual(features.call(draw([1, 3, 6, 6])).lastHiddenState.shape, [1, 10, 12]);
  });
}

describe("an image processor", () => {
  const image = {
    width: 7,
    height: 5,
    data: Uint8ClampedArray.from({ length: 7 * 5 * 4 }, (_, i) => (i * 73 + (i % 11) * 19) % 256),
  };
  const load = (values) =>
    AutoImageProcessor.fromPretrained({ "preprocessor_config.json": JSON.stringify(values) });
  const colorAt = (y, x, c) => image.data[(y * 7 + x) * 4 + c];
  const cubic = (x) => {
    const [a, d] = [-0.5, Math.abs(x)];
    if (d < 1) return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1;
    return d < 2 ? a * (d ** 3 - 5 * d ** 2 + 8 * d - 4) : 0;
  };
  const filters = { 2: (x) => Math.max(0, 1 - Math.abs(x)), 3: cubic };

  // One direction: each pixel is a mean of those near it, over a wider range if there will be fewer.
  const squeeze = (row, count, filter) => {
    const scale = row.length / count;
    const wide = Math.max(1, scale);
    return range(count).map((i) => {
      const center = (i + 0.5) * scale;
      const shares = row.map((_, x) => filter((x + 0.5 - center) / wide));
      const sum = shares.reduce((all, one) => all + one, 0);
      const mean = row.reduce((all, one, x) => all + one * (shares[x] / sum), 0);
      return Math.min(255, Math.max(0, Math.floor(mean + 0.5)));
    });
  };
  const transpose = (rows) => rows[0].map((_, i) => rows.map((row) => row[i]));
  const resized = (height, width, filter) =>
    range(3).map((c) => {
      const rows = range(5).map((y) =>
        squeeze(
          range(7).map((x) => colorAt(y, x, c)),
          width,
          filter,
        ),
      );
      return transpose(transpose(rows).map((column) => squeeze(column, height, filter)));
    });
  const normalized = (channels, mean, deviation) =>
    channels.map((rows, c) =>
      rows.map((row) => row.map((one) => (one / 255 - mean[c]) / deviation[c])),
    );

  test("resizes as those of ViT, SigLIP and Gemma 3 do", async () => {
    for (const [kind, resample, height, width] of [
      ["ViTImageProcessor", 2, 3, 4],
      ["SiglipImageProcessor", 3, 3, 4],
      ["Gemma3ImageProcessor", 2, 9, 8],
      ["SiglipImageProcessor", 3, 9, 8],
    ]) {
      const own = await load({
        image_processor_type: kind,
        ...(kind.startsWith("Gemma3") && { do_pan_and_scan: null, do_convert_rgb: null }),
        do_resize: true,
        size: { height, width },
        resample,
        image_mean: [0.5, 0.4, 0.3],
        image_std: [0.2, 0.3, 0.4],
      });
      const wanted = normalized(
        resized(height, width, filters[resample]),
        [0.5, 0.4, 0.3],
        [0.2, 0.3, 0.4],
      );
      const made = own.process([image, image]);
      assert.deepEqual(made.shape, [2, 3, height, width]);
      assert.ok(distance(made.at(1), wanted) < 1e-5, `${resample} ${height}`);
    }
  });

  test("resizes the shorter side and crops the middle, as CLIP's and DINOv2's do", async () => {
    const own = await load({
      feature_extractor_type: "CLIPFeatureExtractor",
      do_center_crop: true,
      crop_size: 3,
      size: 4,
      resample: 3,
      image_mean: [0.48, 0.45, 0.4],
      image_std: [0.26, 0.26, 0.27],
    });
    // 4 x floor(4 * 7 / 5) pixels, of which 3 x 3 are kept.
    const middle = resized(4, 5, cubic).map((rows) =>
      rows.slice(0, 3).map((row) => row.slice(1, 4)),
    );
    const wanted = normalized(middle, [0.48, 0.45, 0.4], [0.26, 0.26, 0.27]);
    assert.ok(distance(own.process(image), [wanted]) < 1e-5);
    const tensor = eg.tensor(
      range(3).map((c) => range(5).map((y) => range(7).map((x) => colorAt(y, x, c)))),
    );
    assert.ok(distance(own.process(tensor), [wanted]) < 1e-5);
    const newer = await load({
      image_processor_type: "BitImageProcessorFast",
      crop_size: { height: 3, width: 3 },
      size: { shortest_edge: 4 },
      image_mean: [0.48, 0.45, 0.4],
      image_std: [0.26, 0.26, 0.27],
    });
    eg.testing.assertClose(newer.process(image), own.process(image));
  });

  test("refuses what it cannot do", async () => {
    await assert.rejects(load({ image_processor_type: "DonutImageProcessor" }), /it may be "Bit/);
    await assert.rejects(load({ resample: 5 }), /resample is 5/);
    await assert.rejects(
      load({ image_processor_type: "Gemma3ImageProcessor", do_pan_and_scan: true }),
      /do_pan_and_scan is true, which is not implemented/,
    );
    await assert.rejects(AutoImageProcessor.fromPretrained({}), /there is no preprocessor_config/);
    const crops = await load({ do_resize: false, do_center_crop: true, crop_size: 9 });
    assert.throws(() => crops.process(image), /5 x 7 pixels is too small for 9 x 9/);
    assert.throws(() => crops.process({ width: 3 }), /expected an image/);
    assert.throws(() => crops.process(eg.ones([1, 3, 3])), /\[3, height, width\]/);
    const free = await load({ do_resize: false });
    assert.throws(() => free.process([image, eg.ones([3, 2, 2])]), /different sizes/);
  });
});
