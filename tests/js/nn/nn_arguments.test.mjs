// Arguments of layers, losses and nn.init; see also arguments.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

// Every class with options: how it is constructed, and an option in Python's spelling.
const kClasses = {
  Linear: [(options) => new nn.Linear(2, 3, options), "Bias"],
  Bilinear: [(options) => new nn.Bilinear(2, 3, 4, options), "BIAS"],
  Conv1d: [(options) => new nn.Conv1d(1, 2, 3, options), "padding_mode"],
  Conv2d: [(options) => new nn.Conv2d(1, 2, 3, options), "padding_mode"],
  ConvTranspose2d: [(options) => new nn.ConvTranspose2d(1, 2, 3, options), "output_padding"],
  BatchNorm1d: [(options) => new nn.BatchNorm1d(2, options), "track_running_stats"],
  BatchNorm2d: [(options) => new nn.BatchNorm2d(2, options), "track_running_stats"],
  InstanceNorm2d: [(options) => new nn.InstanceNorm2d(2, options), "track_running_stats"],
  GroupNorm: [(options) => new nn.GroupNorm(1, 2, options), "Affine"],
  LayerNorm: [(options) => new nn.LayerNorm(2, options), "elementwise_affine"],
  RMSNorm: [(options) => new nn.RMSNorm(2, options), "elementwise_affine"],
  Embedding: [(options) => new nn.Embedding(3, 2, options), "padding_idx"],
  Dropout: [(options) => new nn.Dropout(options), "P"],
  Softmax: [(options) => new nn.Softmax(options), "Dim"],
  GELU: [(options) => new nn.GELU(options), "Approximate"],
  Flatten: [(options) => new nn.Flatten(options), "start_dim"],
  MaxPool2d: [(options) => new nn.MaxPool2d(2, options), "ceil_mode"],
  AvgPool2d: [(options) => new nn.AvgPool2d(2, options), "count_include_pad"],
  RNN: [(options) => new nn.RNN(2, 3, options), "batch_first"],
  LSTM: [(options) => new nn.LSTM(2, 3, options), "proj_size"],
  GRU: [(options) => new nn.GRU(2, 3, options), "num_layers"],
  RNNCell: [(options) => new nn.RNNCell(2, 3, options), "Nonlinearity"],
  LSTMCell: [(options) => new nn.LSTMCell(2, 3, options), "Bias"],
  GRUCell: [(options) => new nn.GRUCell(2, 3, options), "Bias"],
  ConvTranspose1d: [(options) => new nn.ConvTranspose1d(1, 2, 3, options), "output_padding"],
  BatchNorm3d: [(options) => new nn.BatchNorm3d(2, options), "track_running_stats"],
  InstanceNorm1d: [(options) => new nn.InstanceNorm1d(2, options), "track_running_stats"],
  InstanceNorm3d: [(options) => new nn.InstanceNorm3d(2, options), "track_running_stats"],
  MaxPool1d: [(options) => new nn.MaxPool1d(2, options), "return_indices"],
  AvgPool1d: [(options) => new nn.AvgPool1d(2, options), "count_include_pad"],
  AdaptiveMaxPool2d: [(options) => new nn.AdaptiveMaxPool2d(2, options), "return_indices"],
  ReLU: [(options) => new nn.ReLU(options), "Inplace"],
  LeakyReLU: [(options) => new nn.LeakyReLU(options), "negative_slope"],
  ELU: [(options) => new nn.ELU(options), "Alpha"],
  Hardtanh: [(options) => new nn.Hardtanh(options), "min_val"],
  Threshold: [(options) => new nn.Threshold(0, 1, options), "Inplace"],
  Softplus: [(options) => new nn.Softplus(options), "Beta"],
  Softshrink: [(options) => new nn.Softshrink(options), "Lambd"],
  PReLU: [(options) => new nn.PReLU(options), "num_parameters"],
  GLU: [(options) => new nn.GLU(options), "Dim"],
  LogSoftmax: [(options) => new nn.LogSoftmax(options), "Dim"],
  EmbeddingBag: [(options) => new nn.EmbeddingBag(3, 2, options), "scale_grad_by_freq"],
  MaxUnpool1d: [(options) => new nn.MaxUnpool1d(2, options), "Padding"],
  MaxUnpool3d: [(options) => new nn.MaxUnpool3d(2, options), "Stride"],
  FractionalMaxPool2d: [(options) => new nn.FractionalMaxPool2d(2, options), "output_ratio"],
  FractionalMaxPool3d: [(options) => new nn.FractionalMaxPool3d(2, options), "return_indices"],
  UpsamplingNearest2d: [(options) => new nn.UpsamplingNearest2d(options), "scale_factor"],
  UpsamplingBilinear2d: [(options) => new nn.UpsamplingBilinear2d(options), "scale_factor"],
  AdaptiveLogSoftmaxWithLoss: [
    (options) => new nn.AdaptiveLogSoftmaxWithLoss(2, 5, [2], options),
    "div_value",
  ],
  Upsample: [(options) => new nn.Upsample(options), "scale_factor"],
  ReflectionPad2d: [(options) => new nn.ReflectionPad2d(options), "Padding"],
  ConstantPad1d: [(options) => new nn.ConstantPad1d(1, options), "Value"],
  CosineSimilarity: [(options) => new nn.CosineSimilarity(options), "Eps"],
  PairwiseDistance: [(options) => new nn.PairwiseDistance(options), "Keepdim"],
  Transformer: [(options) => new nn.Transformer(options), "d_model"],
  TransformerDecoderLayer: [
    (options) => new nn.TransformerDecoderLayer(4, 2, options),
    "norm_first",
  ],
  MultiheadAttention: [(options) => new nn.MultiheadAttention(4, 2, options), "add_bias_kv"],
  TransformerEncoderLayer: [
    (options) => new nn.TransformerEncoderLayer(4, 2, options),
    "norm_first",
  ],
  MSELoss: [(options) => new nn.MSELoss(options), "Reduction"],
  CrossEntropyLoss: [(options) => new nn.CrossEntropyLoss(options), "label_smoothing"],
  NLLLoss: [(options) => new nn.NLLLoss(options), "ignore_index"],
  BCEWithLogitsLoss: [(options) => new nn.BCEWithLogitsLoss(options), "pos_weight"],
  KLDivLoss: [(options) => new nn.KLDivLoss(options), "log_target"],
  PoissonNLLLoss: [(options) => new nn.PoissonNLLLoss(options), "log_input"],
  TripletMarginLoss: [(options) => new nn.TripletMarginLoss(options), "Margin"],
  TripletMarginWithDistanceLoss: [
    (options) => new nn.TripletMarginWithDistanceLoss(options),
    "distance_function",
  ],
  CTCLoss: [(options) => new nn.CTCLoss(options), "zero_infinity"],
};

describe("layers and losses", () => {
  for (const [name, [make, snake]] of Object.entries(kClasses)) {
    test(`${name} refuses options it does not have`, () => {
      const unknown = new RegExp(`\\[${name}\\] unknown option "quux"`);
      assertThrows(() => make({ quux: 1 }), "InvalidArgument", unknown);
      const camelCase = snake.toLowerCase().replace(/_(.)/g, (_, letter) => letter.toUpperCase());
      assertThrows(
        () => make({ [snake]: true }),
        "InvalidArgument",
        new RegExp(`mean "${camelCase}"`),
      );
    });
  }

  test("refuse invalid sizes in the constructor", () => {
    for (const wrong of [-1, 1.5, Number.NaN, "3", 2 ** 40, Infinity, null, {}]) {
      assertThrows(() => new nn.Linear(wrong, 2), "InvalidArgument", /\[Linear\] inFeatures/);
      assertThrows(
        () => new nn.Embedding(3, wrong),
        "InvalidArgument",
        /\[Embedding\] embeddingDim/,
      );
      assertThrows(
        () => new nn.BatchNorm2d(wrong),
        "InvalidArgument",
        /\[BatchNorm2d\] numFeatures/,
      );
      assertThrows(() => new nn.Conv2d(1, wrong, 1), "InvalidArgument", /\[Conv2d\] outChannels/);
      assertThrows(
        () => new nn.LayerNorm(wrong),
        "InvalidArgument",
        /\[LayerNorm\] normalizedShape/,
      );
      assertThrows(() => new nn.LSTM(wrong, 2), "InvalidArgument", /\[LSTM\] inputSize/);
      assertThrows(() => new nn.MaxPool2d(wrong), "InvalidArgument", /\[MaxPool2d\] kernelSize/);
    }
    assertThrows(() => new nn.Conv1d(1, ""), "InvalidArgument", /\[Conv1d\] outChannels/);
    assertThrows(() => new nn.Conv2d(1, 1, [3]), "InvalidArgument", /kernelSize.*list of 2.*\[3\]/);
    assertThrows(() => new nn.Conv2d(1, 1, 3, { stride: 0 }), "InvalidArgument", /stride/);
    assertThrows(() => new nn.Linear(2 ** 30, 2 ** 30), "OutOfMemory", /\[Linear\]/);
  });

  test("refuse values of the wrong kind, and too many", () => {
    assertThrows(() => new nn.Linear(2, 3, 1), "InvalidArgument", /bias: expected true or false/);
    assertThrows(() => new nn.Linear(2, 3, { bias: null }), "InvalidArgument", /bias.*null/);
    assertThrows(() => new nn.Linear(2, 3, { dtype: "float" }), "InvalidArgument", /"float32"/);
    assertThrows(() => new nn.Linear(2, 3, true, { bias: true }), "InvalidArgument", /given twice/);
    assertThrows(() => new nn.Dropout(0.5, true, 1), "InvalidArgument", /\[Dropout\] too many/);
    assertThrows(() => new nn.Dropout("0.5"), "InvalidArgument", /p: expected a number/);
    assertThrows(() => new nn.Softmax(1.5), "InvalidArgument", /dim: expected a whole number/);
    assertThrows(() => new nn.MSELoss("avg"), "InvalidArgument", /"none", "mean", "sum"/);
    assertThrows(() => new nn.CrossEntropyLoss({ weight: [1, 2] }), "InvalidArgument", /a tensor/);
    assertThrows(() => new nn.RNN(2, 2, { nonlinearity: "gelu" }), "InvalidArgument", /"relu"/);
  });

  test("take every argument by name, as by position", () => {
    const linear = new nn.Linear({ inFeatures: 2, outFeatures: 3, bias: false });
    assert.deepEqual([linear.weight.shape, linear.bias], [[3, 2], null]);
    const group = new nn.GroupNorm({ numGroups: 2, numChannels: 4, affine: false });
    assert.deepEqual([group.numGroups, group.numChannels, group.weight], [2, 4, null]);
    assert.equal(new nn.Linear(2, 3, true, "cpu", "float64").weight.dtype, "float64");
    assert.equal(new nn.Conv2d(1, 1, 3, { bias: undefined }).bias?.numel, 1);
  });
});

describe("nn.init", () => {
  const weight = () => eg.empty([4, 3]);
  const drawn = (fill) => {
    eg.manualSeed(3);
    return fill(weight()).dataSync();
  };

  test("takes options by name or by position", () => {
    const { init } = nn;
    const pairs = [
      [(w) => init.uniform_(w, -2, 3), (w) => init.uniform_(w, { a: -2, b: 3 })],
      [(w) => init.normal_(w, 1, 2), (w) => init.normal_(w, { std: 2, mean: 1 })],
      [(w) => init.constant_(w, 4), (w) => init.constant_(w, { val: 4 })],
      [(w) => init.xavierUniform_(w, 2), (w) => init.xavierUniform_(w, { gain: 2 })],
      [(w) => init.xavierNormal_(w, 2), (w) => init.xavierNormal_(w, { gain: 2 })],
      [
        (w) => init.kaimingUniform_(w, 0.5, "fan_out"),
        (w) => init.kaimingUniform_(w, { a: 0.5, mode: "fan_out" }),
      ],
      [
        (w) => init.kaimingNormal_(w, 0, "fan_in", "relu"),
        (w) => init.kaimingNormal_(w, { nonlinearity: "relu" }),
      ],
      [(w) => init.orthogonal_(w, 2), (w) => init.orthogonal_(w, { gain: 2 })],
      [(w) => init.sparse_(w, 0.5, 2), (w) => init.sparse_(w, { sparsity: 0.5, std: 2 })],
      [(w) => init.truncNormal_(w, 0, 1, -1, 1), (w) => init.truncNormal_(w, 0, { a: -1, b: 1 })],
    ];
    for (const [byPosition, byName] of pairs) assertClose(drawn(byName), drawn(byPosition));
    const [conv, other] = [eg.empty([4, 2, 3]), eg.empty([4, 2, 3])];
    assertClose(init.dirac_(conv, { groups: 2 }).dataSync(), init.dirac_(other, 2).dataSync());
  });

  test("refuses what it does not know", () => {
    const { init } = nn;
    assertThrows(() => init.orthogonal_(weight(), { gian: 2 }), "InvalidArgument", /"gain"/);
    assertThrows(
      () => init.kaimingNormal_(weight(), { mode: "out" }),
      "InvalidArgument",
      /"fan_out"/,
    );
    assertThrows(
      () => init.uniform_(weight(), 0, 1, null, 2),
      "InvalidArgument",
      /\[uniform_\] too many/,
    );
    assertThrows(() => init.zeros_(weight(), 1), "InvalidArgument", /\[zeros_\] too many/);
    assertThrows(() => init.normal_([1, 2]), "InvalidArgument", /\[normal_\] tensor: expected/);
    assertThrows(
      () => init.xavierUniform_(eg.ones(3)),
      "InvalidArgument",
      /\[xavierUniform_\] expected a weight of 2 dimensions/,
    );
    assertThrows(() => init.calculateGain("gelu"), "InvalidArgument", /nonlinearity/);
  });
});
