// eg.nn.functional against the names of torch.nn.functional.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

// The functions of PyTorch 2.6 in camelCase, except deprecated ones (upsample), those that return indices under another name,
// and those that only PyTorch itself calls.
const kNames = `
  adaptiveAvgPool1d adaptiveAvgPool2d adaptiveAvgPool3d adaptiveMaxPool1d adaptiveMaxPool2d adaptiveMaxPool3d
  affineGrid alphaDropout avgPool1d avgPool2d avgPool3d batchNorm
  bilinear binaryCrossEntropy binaryCrossEntropyWithLogits celu celu_ channelShuffle
  conv1d conv2d conv3d convTbc convTranspose1d convTranspose2d convTranspose3d
  cosineEmbeddingLoss cosineSimilarity crossEntropy ctcLoss dropout dropout1d
  dropout2d dropout3d elu elu_ embedding embeddingBag
  featureAlphaDropout fold fractionalMaxPool2d fractionalMaxPool3d gaussianNllLoss gelu glu gridSample
  groupNorm gumbelSoftmax hardshrink hardsigmoid hardswish hardtanh
  hardtanh_ hingeEmbeddingLoss huberLoss instanceNorm interpolate klDiv
  l1Loss layerNorm leakyRelu leakyRelu_ linear localResponseNorm
  logSoftmax logsigmoid lpPool1d lpPool2d lpPool3d marginRankingLoss
  maxPool1d maxPool2d maxPool3d maxUnpool1d maxUnpool2d maxUnpool3d
  mish mseLoss multiMarginLoss multilabelMarginLoss multilabelSoftMarginLoss nllLoss
  normalize oneHot pad pairwiseDistance pdist pixelShuffle pixelUnshuffle
  poissonNllLoss prelu relu relu6 relu_ rmsNorm
  rrelu scaledDotProductAttention selu selu_ sigmoid silu
  smoothL1Loss softMarginLoss softmax softmin softplus softshrink
  softsign tanh tanhshrink threshold threshold_ tripletMarginLoss
  tripletMarginWithDistanceLoss unfold
`
  .trim()
  .split(/\s+/);

// nn.functional.unfold has another name as an op, because Tensor.unfold is a different function.
const kOtherNames = { fold: "col2im", unfold: "im2col" };

test("nn.functional has every function under PyTorch's name", () => {
  assert.deepEqual(Object.keys(eg.nn.functional).sort(), kNames.sort());
});

test("a function of nn.functional is the op of that name", () => {
  for (const [name, fn] of Object.entries(eg.nn.functional)) {
    if (name === "embedding") continue;
    assert.equal(eg[kOtherNames[name] ?? name] ?? fn, fn, name);
  }
  // nn.functional.embedding takes more arguments: the op is torch.embedding.
  assertTensor(eg.nn.functional.embedding(eg.tensor([1n]), eg.tensor([[1], [2]]), 0), [2]);
  assertTensor(eg.nn.functional.relu(eg.tensor([-1, 2])), [0, 2]);
});
