// Layers, each called.

import { module } from "./module.mjs";

export const kLayers = [
  module("new eg.nn.Linear(3, 2, true)", "eg.randn([4, 3])"),
  module("new eg.nn.Bilinear(3, 4, 2)", "eg.randn([2, 3]), eg.randn([2, 4])"),
  module(
    'new eg.nn.Conv1d(2, 4, 3, { stride: 1, padding: 1, dilation: 1, groups: 2, bias: true, paddingMode: "zeros" })',
    "eg.randn([1, 2, 5])",
  ),
  module('new eg.nn.Conv1d(2, 2, 3, 1, "same", 1, 1, true, "reflect")', "eg.randn([2, 5])"),
  module("new eg.nn.Conv2d(2, 3, [3, 2], { padding: [1, 0] })", "eg.randn([1, 2, 5, 4])"),
  module(
    "new eg.nn.ConvTranspose2d(2, 3, 3, { stride: 2, padding: 1, outputPadding: 1 })",
    "eg.randn([1, 2, 3, 3])",
  ),
  module(
    "new eg.nn.BatchNorm1d(3, { eps: 1e-5, momentum: 0.1, affine: true })",
    "eg.randn([4, 3])",
  ),
  module("new eg.nn.BatchNorm2d(3, 1e-5, 0.1, true, true)", "eg.randn([2, 3, 2, 2])"),
  module("new eg.nn.InstanceNorm2d(3, { affine: true })", "eg.randn([2, 3, 2, 2])"),
  module("new eg.nn.LayerNorm([2, 3], { eps: 1e-5 })", "eg.randn([4, 2, 3])"),
  module("new eg.nn.GroupNorm(2, 4)", "eg.randn([2, 4, 3])"),
  module("new eg.nn.RMSNorm(3, { eps: 1e-5 })", "eg.randn([4, 3])"),
  module("new eg.nn.Embedding(5, 3, { paddingIdx: 1 })", "eg.randint(5, [2, 2])"),
  module("new eg.nn.Dropout(0.5)", "eg.randn([4])"),
  module(
    "new eg.nn.MaxPool2d(2, { stride: 1, padding: 1, dilation: 1, ceilMode: true })",
    "eg.randn([1, 1, 4, 4])",
  ),
  module("new eg.nn.AvgPool2d([2, 2], 1, 0)", "eg.randn([1, 1, 4, 4])"),
  module("new eg.nn.AdaptiveAvgPool2d([2, 1])", "eg.randn([1, 1, 4, 4])"),
  module("new eg.nn.Flatten(1, -1)", "eg.randn([2, 2, 2])"),
  module("new eg.nn.Unflatten(1, [2, 2])", "eg.randn([2, 4])"),
  module("new eg.nn.Softmax(1)", "eg.randn([2, 2])"),
  module('new eg.nn.GELU("tanh")', "eg.randn([2, 2])"),
  module(
    "new eg.nn.Sequential(new eg.nn.Linear(2, 2), new eg.nn.ReLU(), new eg.nn.Tanh())",
    "eg.randn([2, 2])",
  ),
  [
    "new eg.nn.ModuleList([new eg.nn.SiLU(), new eg.nn.Sigmoid()])",
    "$0.append(new eg.nn.ReLU())",
    "$0.length",
    "[...$0]",
  ],
  module(
    "new eg.nn.RNN(2, 3, { numLayers: 2, bidirectional: true, batchFirst: true })",
    "eg.randn([1, 4, 2])",
  ),
  module("new eg.nn.LSTM(2, 3, 1, true, false, 0, false, 2)", "eg.randn([4, 1, 2])"),
  module(
    "new eg.nn.GRU(2, 3, { dropout: 0.5, numLayers: 2 })",
    "eg.randn([4, 1, 2]), eg.randn([2, 1, 3])",
  ),
  module(
    "new eg.nn.MultiheadAttention(4, 2, { batchFirst: true, dropout: 0.1 })",
    "eg.randn([1, 3, 4]), eg.randn([1, 3, 4]), eg.randn([1, 3, 4]), { needWeights: true }",
  ),
  module(
    'new eg.nn.TransformerEncoderLayer(4, 2, { dimFeedforward: 8, activation: "gelu", batchFirst: true })',
    "eg.randn([1, 3, 4])",
  ),
  module("new eg.nn.Conv3d(2, 2, [1, 2, 2], { groups: 2 })", "eg.randn([1, 2, 2, 3, 3])"),
  module("new eg.nn.ConvTranspose1d(2, 3, 2, { stride: 2 })", "eg.randn([1, 2, 3])"),
  module(
    "new eg.nn.ConvTranspose3d(2, 1, 2, { stride: 2, bias: false })",
    "eg.randn([1, 2, 2, 2, 1]), [4, 4, 2]",
  ),
  module("new eg.nn.BatchNorm3d(2, { trackRunningStats: false })", "eg.randn([2, 2, 1, 2, 2])"),
  module("new eg.nn.InstanceNorm1d(2, { trackRunningStats: true })", "eg.randn([2, 2, 3])"),
  module("new eg.nn.InstanceNorm3d(2, 1e-5)", "eg.randn([1, 2, 1, 2, 2])"),
  module("new eg.nn.LocalResponseNorm(2, { alpha: 1e-4, beta: 0.75, k: 1 })", "eg.rand([1, 3, 4])"),
  [
    'new eg.nn.EmbeddingBag(5, 3, { mode: "sum", paddingIdx: 1, includeLastOffset: false })',
    "$0.call(eg.randint(5, [2, 3]))",
    "$0.call(eg.randint(5, [4]), eg.tensor([0n, 2n]), eg.rand([4]))",
    "eg.nn.Embedding.fromPretrained(eg.randn([3, 2]), { freeze: false }).call(eg.tensor([0n]))",
  ],
  module("new eg.nn.CosineSimilarity({ dim: 1, eps: 1e-8 })", "eg.randn([2, 3]), eg.randn([2, 3])"),
  module("new eg.nn.PairwiseDistance(2, { keepdim: true })", "eg.randn([2, 3]), eg.randn([2, 3])"),
  module('new eg.nn.RNNCell(2, 3, { nonlinearity: "relu" })', "eg.randn([4, 2]), eg.randn([4, 3])"),
  module("new eg.nn.LSTMCell(2, 3)", "eg.randn([4, 2]), [eg.randn([4, 3]), eg.randn([4, 3])]"),
  module("new eg.nn.GRUCell(2, 3, { bias: false })", "eg.randn([2])"),
  module(
    "new eg.nn.TransformerDecoderLayer(4, 2, { dimFeedforward: 8, normFirst: true, dropout: 0 })",
    "eg.randn([3, 1, 4]), eg.randn([2, 1, 4]), { tgtIsCausal: false }",
  ),
  module(
    "new eg.nn.TransformerEncoder(new eg.nn.TransformerEncoderLayer(4, 2, { dimFeedforward: 8 }), 2, { norm: new eg.nn.LayerNorm(4) })",
    "eg.randn([3, 1, 4]), { isCausal: null }",
  ),
  module(
    "new eg.nn.TransformerDecoder(new eg.nn.TransformerDecoderLayer(4, 2, { dimFeedforward: 8 }), 1)",
    "eg.randn([3, 1, 4]), eg.randn([2, 1, 4])",
  ),
  module(
    "new eg.nn.Transformer({ dModel: 4, nhead: 2, numEncoderLayers: 1, numDecoderLayers: 1, dimFeedforward: 8, batchFirst: true })",
    "eg.randn([1, 3, 4]), eg.randn([1, 2, 4])",
    "eg.randn([1, 3, 4]), eg.randn([1, 2, 4]), { srcMask: eg.zeros([3, 3]) }",
  ),
];

const activations = (input, ...layers) =>
  layers.map((layer) => module(`new eg.nn.${layer}`, input));

/** Layers without parameters. */
export const kPlainLayers = [
  ...activations(
    "eg.randn([2, 4])",
    "Identity()",
    "LeakyReLU({ negativeSlope: 0.1, inplace: false })",
    "ELU({ alpha: 1 })",
    "CELU(2, true)",
    "SELU()",
    "ReLU6({ inplace: true })",
    "Hardsigmoid()",
    "Hardswish({ inplace: true })",
    "Hardtanh(-1, 1, { inplace: true })",
    "Hardshrink({ lambd: 0.5 })",
    "Softshrink(0.5)",
    "Tanhshrink()",
    "Threshold(0.1, 2, { inplace: true })",
    "Mish()",
    "Softplus({ beta: 2, threshold: 10 })",
    "Softsign()",
    "LogSigmoid()",
    "LogSoftmax({ dim: 1 })",
    "Softmin(0)",
    "PReLU({ numParameters: 4, init: 0.3 })",
    "RReLU({ lower: 0.1, upper: 0.3 })",
    "GLU({ dim: -1 })",
    "AlphaDropout(0.3, { inplace: true })",
  ),
  ...activations(
    "eg.randn([2, 4, 3])",
    "Dropout1d({ p: 0.4 })",
    "FeatureAlphaDropout(0.3)",
    "MaxPool1d(2, { stride: 1, returnIndices: true })",
    "AvgPool1d(2, { padding: 1, countIncludePad: false })",
    "LPPool1d(2, 2, { stride: 1, ceilMode: true })",
    "AdaptiveAvgPool1d(2)",
    "AdaptiveMaxPool1d(2, { returnIndices: true })",
    "ReflectionPad1d([1, 2])",
    "ReplicationPad1d({ padding: 2 })",
    "CircularPad1d(1)",
    "ConstantPad1d(1, { value: 0.5 })",
    "ZeroPad1d([1, -1])",
    "ChannelShuffle(2)",
    'Upsample({ scaleFactor: 2, mode: "linear", alignCorners: true })',
  ),
  ...activations(
    "eg.randn([1, 4, 4, 4])",
    "Dropout2d(0.4)",
    "Softmax2d()",
    "LPPool2d(2, [2, 1])",
    "AdaptiveMaxPool2d([2, null])",
    "ReflectionPad2d([1, 2, 0, 1])",
    "ReplicationPad2d(1)",
    "CircularPad2d([1, 0, 2, 0])",
    "ConstantPad2d([1, 0, 0, 1], -1)",
    "ZeroPad2d(1)",
    "PixelShuffle(2)",
    "PixelUnshuffle({ downscaleFactor: 2 })",
    "Upsample([3, 5])",
    "Unfold([2, 2], { dilation: 1, padding: 1, stride: 2 })",
  ),
  ...activations("eg.randn([1, 4, 9])", "Fold([4, 4], [2, 2], { dilation: 1 })"),
  ...activations(
    "eg.randn([1, 2, 3, 3, 2])",
    "Dropout3d({ p: 0.2, inplace: true })",
    "MaxPool3d(2, { padding: 1, returnIndices: true })",
    "AvgPool3d([2, 2, 1], { divisorOverride: 3 })",
    "LPPool3d(1, 2)",
    "AdaptiveAvgPool3d([2, null, 1])",
    "AdaptiveMaxPool3d(1)",
    "ReflectionPad3d(1)",
    "ReplicationPad3d([0, 1, 1, 0, 2, 0])",
    "CircularPad3d(1)",
    "ConstantPad3d(1, 2.5)",
    "ZeroPad3d([1, 1, 0, 0, 0, 0])",
  ),
];

/** Functions that draw, which ops of the table are made into. */
export const kDrawing = [
  ...["alphaDropout", "dropout1d", "featureAlphaDropout"].map((name) => [
    "eg.randn([2, 3, 4])",
    `eg.nn.functional.${name}($0, { p: 0.3, training: true })`,
  ]),
  [
    "eg.randn([2, 3, 4, 4])",
    "eg.nn.functional.dropout2d($0, 0.3, true)",
    "eg.nn.functional.dropout3d($0.unsqueeze(-1), { p: 0.2 })",
    "eg.nn.functional.gumbelSoftmax($0, { tau: 0.5, hard: true, dim: 1 })",
  ],
];
