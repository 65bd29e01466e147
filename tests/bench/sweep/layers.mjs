// Calls of the sweep for the components of models: normalization, losses, images (see tensors.mjs for their form).

import { I, N, U } from "./operands.mjs";

const matrix = (z) => N(z.rows, z.columns);
const two = (z) => [matrix(z), matrix(z)];
const labels = (z) => I(z.columns, z.rows);
const sequence = (z) => N(z.batch, 16, 128);
const image = (z) => N(z.batch, 16, 26, 26);
const volume = (z) => N(z.batch, 4, 8, 12, 12);
const channels = () => N(16);
const variances = () => U(0.5, 2, 16);

export const kSoftmax = {
  softmax: (z) => [matrix(z), 1],
  logSoftmax: (z) => [matrix(z), 1],
  softmin: (z) => [matrix(z), 1],
  "softmax along columns": { call: "softmax", args: (z) => [matrix(z), 0] },
};

export const kNormalization = {
  layerNorm: (z) => [matrix(z), [z.columns], N(z.columns), N(z.columns)],
  rmsNorm: { args: (z) => [matrix(z), [z.columns], N(z.columns)], theirs: null },
  "batchNorm in training": {
    call: "batchNorm",
    args: (z) => [image(z), null, null, channels(), channels(), true],
  },
  batchNorm: (z) => [image(z), channels(), variances(), channels(), channels(), false],
  "batchNorm of rows": {
    call: "batchNorm",
    args: (z) => [N(z.rows, 16), channels(), variances(), channels(), channels(), false],
  },
  groupNorm: (z) => [image(z), 4, channels(), channels()],
  instanceNorm: (z) => [image(z)],
  localResponseNorm: (z) => [image(z), 3],
};

export const kLosses = {
  crossEntropy: (z) => [matrix(z), labels(z)],
  nllLoss: (z) => [matrix(z), labels(z)],
  mseLoss: two,
  l1Loss: two,
  smoothL1Loss: two,
  huberLoss: two,
  binaryCrossEntropy: (z) => [U(0.1, 0.9, z.rows, z.columns), U(0.1, 0.9, z.rows, z.columns)],
  binaryCrossEntropyWithLogits: (z) => [matrix(z), U(0, 1, z.rows, z.columns)],
  klDiv: (z) => [matrix(z), U(0.1, 1, z.rows, z.columns), { reduction: "batchmean" }],
  marginRankingLoss: (z) => [matrix(z), matrix(z), matrix(z)],
  hingeEmbeddingLoss: two,
  softMarginLoss: two,
  cosineEmbeddingLoss: (z) => [matrix(z), matrix(z), U(0.5, 1, z.rows)],
  tripletMarginLoss: (z) => [matrix(z), matrix(z), matrix(z)],
  multiMarginLoss: (z) => [matrix(z), labels(z)],
  multilabelMarginLoss: (z) => [N(z.rows, 16), I(16, z.rows, 16)],
  multilabelSoftMarginLoss: (z) => [matrix(z), U(0, 1, z.rows, z.columns)],
  poissonNllLoss: (z) => [matrix(z), U(0, 1, z.rows, z.columns)],
  gaussianNllLoss: (z) => [matrix(z), matrix(z), U(0.5, 2, z.rows, z.columns)],
  ctcLoss: (z) => [
    U(-3, -1, 32, z.batch, 16),
    { kind: "integer", low: 1, high: 16, shape: [z.batch, 8] },
    Array(z.batch).fill(32),
    Array(z.batch).fill(8),
  ],
};

export const kImages = {
  interpolate: { args: (z) => [image(z), null, 2], theirs: "interpolate" },
  "interpolate, bilinear": {
    call: "interpolate",
    args: (z) => [image(z), null, 2, "bilinear"],
    theirs: "interpolate",
  },
  "interpolate, averaged": {
    call: "interpolate",
    args: (z) => [image(z), null, 0.5, { mode: "bilinear", antialias: true }],
    theirs: "interpolate",
  },
  maxPool1d: (z) => [sequence(z), 2],
  maxPool2d: (z) => [image(z), 2],
  maxPool3d: (z) => [volume(z), 2],
  avgPool1d: (z) => [sequence(z), 2],
  avgPool2d: (z) => [image(z), 2],
  avgPool3d: (z) => [volume(z), 2],
  adaptiveAvgPool1d: (z) => [sequence(z), 7],
  adaptiveAvgPool2d: (z) => [image(z), [5, 5]],
  adaptiveAvgPool3d: (z) => [volume(z), [3, 5, 5]],
  adaptiveMaxPool1d: (z) => [sequence(z), 7],
  adaptiveMaxPool2d: (z) => [image(z), [5, 5]],
  adaptiveMaxPool3d: (z) => [volume(z), [3, 5, 5]],
  lpPool1d: (z) => [U(0.5, 2, z.batch, 16, 128), 2, 2],
  lpPool2d: (z) => [U(0.5, 2, z.batch, 16, 26, 26), 2, 2],
  lpPool3d: { args: (z) => [U(0.5, 2, z.batch, 4, 8, 12, 12), 2, 2], theirs: null },
  maxUnpool1d: (z) => [N(z.batch, 16, 1), I(2, z.batch, 16, 1), 2],
  maxUnpool2d: (z) => [N(z.batch, 16, 1, 1), I(4, z.batch, 16, 1, 1), 2],
  maxUnpool3d: (z) => [N(z.batch, 16, 1, 1, 1), I(8, z.batch, 16, 1, 1, 1), 2],
  conv1d: (z) => [sequence(z), N(16, 16, 3), N(16)],
  conv2d: (z) => [image(z), N(16, 16, 3, 3), N(16)],
  conv3d: (z) => [volume(z), N(8, 4, 3, 3, 3), N(8)],
  convTranspose1d: (z) => [sequence(z), N(16, 16, 3), N(16)],
  convTranspose2d: (z) => [image(z), N(16, 8, 3, 3), N(8)],
  convTranspose3d: (z) => [volume(z), N(4, 4, 3, 3, 3), N(4)],
  affineGrid: (z) => [N(z.batch, 2, 3), [z.batch, 1, 32, 32]],
  gridSample: (z) => [image(z), U(-1, 1, z.batch, 26, 26, 2)],
  channelShuffle: (z) => [image(z), 4],
  pixelShuffle: (z) => [image(z), 2],
  pixelUnshuffle: (z) => [image(z), 2],
  im2col: { args: (z) => [image(z), 3], theirs: "unfold" },
  col2im: { args: (z) => [N(z.batch, 36, 576), [26, 26], 3], theirs: "fold" },
};
