// Single ops as they occur in models: cases of the sweep, for comparing two builds (--compare), and one thread with two. The sweep
// itself has all ops beside PyTorch.

import { bestTime } from "../clock.mjs";

const kTitles = [
  ...["exp", "tanh", "sigmoid", "log", "gelu", "softmax", "crossEntropy", "layerNorm", "svd"],
  ...["conv2d", "convTranspose2d", "batchNorm in training", "scaledDotProductAttention", "rfft"],
];

const kParts = { forward: "forward", both: "forward and backward" };

const rowId = (title, part) => `${title}, ${kParts[part]}`;

/** Returns the calls. The list of ops is generated, so it is read only when something is measured. */
async function casesNow() {
  const { sweepCases } = await import("../sweep/cases.mjs");
  const sizeOf = (title) => (title === "svd" ? "medium" : "large");
  return sweepCases().filter(
    ({ title, size }) => kTitles.includes(title) && size === sizeOf(title),
  );
}

export default {
  name: "ops",
  title: "Single ops, float32, ms",
  contenders: ["edgegrad", "edgegrad2"],
  repeats: 2,
  limit: 60,

  rows: () =>
    kTitles
      .flatMap((title) => Object.keys(kParts).map((part) => rowId(title, part)))
      .map((id) => ({ id, title: id, unit: "ms", better: "lower" })),

  async measure(_library, { quick }, report) {
    const { prepare } = await import("../sweep/ours.mjs");
    const cases = (await casesNow()).map((case_) => [case_.title, prepare(case_)]);
    const best = new Map();
    for (let round = 0; round < (quick ? 2 : 4); ++round) {
      for (const [title, runs] of cases) {
        for (const [part, run] of Object.entries(runs)) {
          const id = rowId(title, part);
          const time = await bestTime(run, quick ? 60 : 120);
          best.set(id, Math.min(time, best.get(id) ?? Number.POSITIVE_INFINITY));
        }
      }
    }
    for (const [id, time] of best) report(id, time);
  },

  checks(rows, results) {
    const [one, two] = results.map(({ values }) => values);
    return rows
      .filter(({ id }) => one[id] && two?.[id])
      .map(({ id }) => ({ row: id, text: "2t no slower", passed: two[id] <= 1.05 * one[id] }));
  },
};
