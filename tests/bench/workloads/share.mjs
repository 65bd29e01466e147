// Fused kernels compared with the matrix product: the percentage of the rate of our own square product of as many
// operations, measured in the same process, round by round. This percentage does not depend on the processor, and shows
// how much a kernel loses to anything but arithmetic: padding, short rows, exponentials.

import { bestTime } from "../clock.mjs";
import { randomNumbers } from "../data.mjs";

const convolution = (batch, inputs, size, outputs, kernel) => ({
  kind: "convolution",
  parts: ["forward", "input gradient", "weight gradient"],
  sizes: { batch, inputs, size, outputs, kernel },
});
const attention = (batch, heads, length, width, isCausal) => ({
  kind: "attention",
  parts: ["forward", "backward"],
  sizes: { batch, heads, length, width, isCausal },
});

const kCases = {
  "conv 8@5x5 of 1x28x28": convolution(64, 1, 28, 8, 5),
  "conv 16@5x5 of 8x12x12": convolution(64, 8, 12, 16, 5),
  "conv 64@3x3 of 64x28x28": convolution(4, 64, 28, 64, 3),
  "attention 4 x 64 x 16, causal": attention(8, 4, 64, 16, true),
  "attention 8 x 256 x 64": attention(1, 8, 256, 64, false),
  "attention 8 x 256 x 64, causal": attention(1, 8, 256, 64, true),
};

// Training does not compute the gradient of its input images, so that gradient has no target.
const kWithoutTarget = ["conv 8@5x5 of 1x28x28, input gradient"];

const rowId = (title, part) => `${title}, ${part}`;

export default {
  name: "share",
  title: "Share of the product's rate, float32",
  contenders: ["edgegrad"],
  repeats: 2,
  limit: 60,

  rows: () =>
    Object.entries(kCases).flatMap(([title, { parts }]) =>
      parts.map((part) => {
        const id = rowId(title, part);
        const target = kWithoutTarget.includes(id) ? undefined : 50;
        return { id, title: id, unit: "%", better: "higher", target, digits: 0 };
      }),
    ),

  async measure(library, { quick }, report) {
    for (const [title, { kind, sizes }] of Object.entries(kCases)) {
      for (const { part, operations, run } of library[kind](sizes)) {
        const product = productOf(library, operations);
        const time = await bestTimes([run, product.run], quick ? 2 : 4);
        report(rowId(title, part), (100 * operations * time[1]) / (product.operations * time[0]));
      }
    }
  },
};

/** Returns a square product with about as many operations. */
function productOf(library, operations) {
  const n = Math.round(Math.cbrt(operations / 2));
  const [a, b] = [randomNumbers(n * n, 1), randomNumbers(n * n, 2)];
  return { operations: 2 * n ** 3, run: library.product("NN", { m: n, k: n, n }, a, b) };
}

/** Resolves to the best time in ms of each function; they are run alternately. */
async function bestTimes(runs, rounds) {
  const best = runs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; ++round) {
    for (const [i, run] of runs.entries()) best[i] = Math.min(best[i], await bestTime(run, 40));
  }
  return best;
}
