// Square products on WebGPU: a number of products in sequence, then the result of the last one is read.

import { randomNumbers } from "../data.mjs";
import { fasterThanPeers, kOnWebgpu } from "./webgpu.mjs";

const kSizes = [1024, 2048];
/** Multiplications and additions between reads of a result. */
const kWork = 2 ** 31;
const kChecked = 5; // elements of a result
const kTolerance = 1e-3;

export default {
  ...kOnWebgpu,
  name: "webgpu-matmul",
  title: "WebGPU: square product, float32",
  repeats: 2,
  limit: 100,

  rows: () => kSizes.map((n) => ({ id: String(n), unit: "ms", better: "lower" })),

  async measure(library, { quick }, report) {
    for (const n of kSizes) {
      const [a, b] = [randomNumbers(n * n, 1), randomNumbers(n * n, 2)];
      const { multiply, read } = library.deviceProduct(n, a, b);
      multiply();
      checkSome(n, a, b, await read()); // this run also compiles
      const count = Math.ceil(kWork / n ** 3);
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < (quick ? 2 : 4); ++round) {
        const start = performance.now();
        for (let i = 0; i < count; ++i) multiply();
        await read();
        best = Math.min(best, (performance.now() - start) / count);
      }
      report(String(n), best);
    }
  },

  checks: (rows, results) => rows.flatMap(({ id }) => fasterThanPeers(id, results)),
};

function checkSome(n, a, b, result) {
  for (let i = 0; i < kChecked; ++i) {
    const [row, column] = [(i * 977) % n, (i * 1381 + n - 1) % n];
    let sum = 0;
    for (let k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    const found = result[row * n + column];
    if (!(Math.abs(found - sum) < kTolerance))
      throw new Error(`element ${row}, ${column} is ${found}, expected ${sum}`);
  }
}
