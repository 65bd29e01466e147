// Sample calls of the composites of images and volumes, by the name of the function (composite_calls.mjs).

export const kImageSamples = {
  adaptiveAvgPool1d: ["T([1, 2, 7]), 3"],
  adaptiveAvgPool3d: ["T([1, 2, 3, 4, 3]), [2, null, 2]", "T([2, 3, 4, 3]), 2"],
  adaptiveMaxPool1d: ["T([2, 7]), 3", "T([1, 2, 7]), 3, true"],
  adaptiveMaxPool3d: [
    "T([1, 2, 3, 4, 3]), [2, null, 2]",
    "T([2, 3, 4, 3]), 2, {returnIndices: true}",
  ],
  affineGrid: ["T([2, 2, 3]), [2, 1, 3, 4]", "T([1, 3, 4]), [1, 1, 2, 3, 1], true"],
  avgPool3d: [
    "T([1, 2, 4, 4, 3]), 2",
    "T([2, 3, 4, 3]), [2, 3, 2], {stride: 2, padding: 1, ceilMode: true, countIncludePad: false}",
    "T([1, 1, 4, 4, 3]), 2, {divisorOverride: 3}",
  ],
  channelShuffle: ["T([2, 6, 2]), 3"],
  col2im: [
    "T([2, 8, 9]), [4, 4], 2",
    "T([12, 15]), [5, 5], [3, 2], {dilation: [1, 2], padding: 1, stride: [2, 1]}",
  ],
  conv3d: [
    "T([1, 2, 4, 4, 3]), T([3, 2, 2, 2, 2]), T([3])",
    "T([2, 5, 4, 3]), T([4, 1, 2, 2, 2]), null, {stride: [2, 1, 1], padding: [1, 0, 1], dilation: [2, 1, 1], groups: 2}",
    'T([1, 1, 4, 3, 3]), T([2, 1, 2, 3, 2]), {padding: "same"}',
  ],
  convTranspose3d: [
    "T([1, 2, 3, 2, 2]), T([2, 3, 2, 2, 2]), T([3])",
    "T([2, 3, 2, 2]), T([2, 1, 3, 2, 2]), null, {stride: [2, 1, 2], padding: [2, 0, 1], outputPadding: [1, 0, 0], groups: 2, dilation: [2, 1, 1]}",
  ],
  embeddingBag: [
    "I([6], 5), T([5, 3]), I([2], 1)",
    'I([2, 3], 5), T([5, 3]), {mode: "sum", perSampleWeights: T([2, 3]), paddingIdx: 1}',
    'I([2, 3], 5), T([5, 3]), {mode: "max"}',
  ],
  gridSample: [
    "T([1, 2, 3, 4]), T([1, 2, 3, 2], -0.9, 0.9)",
    'T([1, 2, 3, 4]), T([1, 2, 3, 2]), {mode: "bicubic", alignCorners: true}',
    'T([1, 1, 2, 3, 4]), T([1, 1, 2, 3, 3], -0.9, 0.9), "bilinear", "reflection"',
    'T([1, 2, 3, 4]), T([1, 2, 3, 2]), "bilinear", "border"',
  ],
  im2col: [
    "T([2, 2, 4, 4]), 2",
    "T([2, 5, 5]), [3, 2], {dilation: [1, 2], padding: 1, stride: [2, 1]}",
  ],
  interpolate: [
    'T([1, 2, 5, 4]), [3, 2], {mode: "bilinear", antialias: true}',
    'T([1, 1, 6, 5]), null, 0.5, "bicubic", {antialias: true}',
  ],
  localResponseNorm: ["T([2, 5, 3]), 3", "T([1, 5, 2, 2]), 2, {alpha: 0.1, beta: 0.5, k: 2}"],
  lpPool1d: ["T([1, 2, 7], 0.5, 2), 3, 2"],
  lpPool2d: ["T([1, 2, 4, 5], 0.5, 2), 2, [2, 3], {stride: 2, ceilMode: true}"],
  lpPool3d: ["T([1, 2, 4, 3, 4], 0.5, 2), 1.5, 2"],
  maxPool3d: [
    "T([1, 2, 4, 4, 3]), 2",
    "T([2, 5, 4, 3]), [2, 3, 2], {stride: 2, padding: 1, dilation: [2, 1, 1], ceilMode: true, returnIndices: true}",
  ],
  maxUnpool1d: ["T([1, 2, 1]), I([1, 2, 1], 2), 2"],
  maxUnpool2d: ["T([2, 1, 1]), I([2, 1, 1], 4), 2, {outputSize: [3, 3]}"],
  maxUnpool3d: ["T([1, 2, 1, 1, 1]), I([1, 2, 1, 1, 1], 8), 2"],
  pixelShuffle: ["T([2, 8, 2, 3]), 2", "T([4, 2, 1]), 2"],
  pixelUnshuffle: ["T([2, 2, 4, 6]), 2"],
};
