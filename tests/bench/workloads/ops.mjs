// Single ops and layers as they occur in models, in float32: the forward pass, and where it matters also the gradients.
// The reference is native PyTorch on one thread (--with torch).

import { kContenders } from "../contenders.mjs";

const kRows = [512, 256];
const kImage = { batch: 8, inputs: 64, side: 32, outputs: 64, kernel: 3, padding: 1 };
const kUpscaled = { batch: 8, inputs: 32, side: 16, outputs: 16, kernel: 4, stride: 2, padding: 1 };
const kHeads = { batch: 8, heads: 4, length: 64, width: 16 };
const kSequence = { batch: 16, length: 32, inputs: 64, hidden: 128 };

// `targets`: the maximum time in ms of the forward pass, and of both passes.
const kCases = [
  { title: "exp of 131,072", op: "exp", sizes: [131_072], targets: [0.17] },
  { title: "tanh of 131,072", op: "tanh", sizes: [131_072], targets: [0.17] },
  { title: "sigmoid of 131,072", op: "sigmoid", sizes: [131_072] },
  { title: "log of 131,072", op: "log", sizes: [131_072] },
  { title: "gelu, 512 x 256", op: "gelu", sizes: kRows, targets: [0.25, 0.6] },
  { title: "softmax, 512 x 256", op: "softmax", sizes: kRows },
  { title: "t().contiguous(), 512 x 256", op: "transpose", sizes: kRows },
  { title: "crossEntropy, 512 x 256", op: "crossEntropy", sizes: kRows, isBoth: true },
  {
    title: "attention 8 x 4 x 64 x 16, causal",
    op: "attention",
    sizes: kHeads,
    targets: [0.2, 0.55],
  },
  {
    title: "conv 64@3x3 of 8x64x32x32",
    op: "conv2d",
    sizes: kImage,
    isBoth: true,
    hasTorchLimit: true,
  },
  {
    title: "the same, depthwise",
    op: "conv2d",
    sizes: { ...kImage, groups: 64 },
    isBoth: true,
    hasTorchLimit: true,
  },
  {
    title: "convTranspose2d 16@4x4 of 8x32x16x16",
    op: "convTranspose2d",
    sizes: kUpscaled,
    isBoth: true,
    hasTorchLimit: true,
  },
  {
    title: "batchNorm of 32x64x16x16, training",
    op: "batchNorm",
    sizes: [32, 64, 16],
    isBoth: true,
    hasTorchLimit: true,
  },
  {
    title: "layerNorm, 512 x 256",
    op: "layerNorm",
    sizes: kRows,
    isBoth: true,
    hasTorchLimit: true,
  },
  {
    title: "LSTM 64 -> 128, 16 x 32 steps",
    op: "lstm",
    sizes: kSequence,
    isBoth: true,
    hasTorchLimit: true,
  },
  { title: "rfft of 64 x 1024", op: "rfft", sizes: [64, 1024], hasTorchLimit: true },
  { title: "svd, 100 x 100", op: "svd", sizes: [100, 100], hasTorchLimit: true, slower: 5 },
];

// The maximum ratio to PyTorch's time.
const kMaxTorchRatio = 2.5;

const kParts = [
  { name: "forward", isWithBackward: false },
  { name: "forward and backward", isWithBackward: true },
];

/** The measurements: [{ id, one, isWithBackward, target }] with the case `one`. */
export const kMeasured = kCases.flatMap((one) =>
  kParts
    .filter(({ isWithBackward }) => !isWithBackward || one.isBoth || one.targets?.[1])
    .map(({ name, isWithBackward }) => ({
      id: `${one.title}, ${name}`,
      one,
      isWithBackward,
      target: one.targets?.[Number(isWithBackward)],
    })),
);

export default {
  name: "ops",
  title: "Single ops and layers, float32, ms",
  contenders: ["edgegrad", "edgegrad2", "torch"],
  repeats: 2,
  limit: 60,

  rows: () =>
    kMeasured.map(({ id, target }) => ({ id, title: id, unit: "ms", better: "lower", target })),

  async measure(library, { quick }, report) {
    const best = new Map();
    for (let round = 0; round < (quick ? 2 : 4); ++round) {
      for (const { id, one, isWithBackward } of kMeasured) {
        const time = await library.timeOf(one.op, one.sizes, isWithBackward, quick ? 60 : 120);
        best.set(id, Math.min(time, best.get(id) ?? Number.POSITIVE_INFINITY));
      }
    }
    for (const [id, time] of best) report(id, time);
  },

  checks(_rows, results) {
    const [ours, two, torch] = ["edgegrad", "edgegrad2", "torch"].map(
      (id) => results.find(({ contender }) => contender === id)?.values ?? {},
    );
    return kMeasured.flatMap(({ id, one }) => {
      const checks = [];
      if (ours[id] && two[id]) {
        checks.push({ row: id, text: "2t no slower", passed: two[id] <= 1.05 * ours[id] });
      }
      if (ours[id] && torch[id] && one.hasTorchLimit) {
        const most = one.slower ?? kMaxTorchRatio;
        const passed = ours[id] <= most * torch[id];
        checks.push({ row: id, text: `<= ${most}x ${kContenders.torch.title}`, passed });
      }
      return checks;
    });
  },
};
