// Modules, optimizers and schedulers in Python: what edgegrad's own have and compute, and hooks and state.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { run, startPython, testsIn } from "./support/python.mjs";

const python = await startPython();
run(python, "import json\nimport edgegrad.torch as torch\nfrom edgegrad.torch import nn");

// The layers by their names, with arguments as Python and JavaScript write them, and the shapes of their inputs.
const kLayers = [
  ["Linear", "3, 4", [[2, 3]]],
  [
    "Bilinear",
    "2, 3, 4",
    [
      [5, 2],
      [5, 3],
    ],
  ],
  ["Conv1d", "2, 4, 3", [[2, 2, 6]]],
  ["Conv2d", "2, 4, 3", [[2, 2, 6, 6]]],
  ["Conv3d", "2, 4, 3", [[1, 2, 4, 4, 4]]],
  ["ConvTranspose1d", "2, 4, 3", [[2, 2, 6]]],
  ["ConvTranspose2d", "2, 4, 3", [[2, 2, 6, 6]]],
  ["BatchNorm1d", "3", [[4, 3]]],
  ["BatchNorm2d", "3", [[2, 3, 4, 4]]],
  ["InstanceNorm2d", "3", [[2, 3, 4, 4]]],
  ["LayerNorm", "[4]", [[2, 4]]],
  ["RMSNorm", "[4]", [[2, 4]]],
  ["GroupNorm", "2, 4", [[2, 4, 3]]],
  ["LocalResponseNorm", "2", [[2, 4, 3, 3]]],
  ["PReLU", "3", [[2, 3, 4]]],
  ["RNN", "3, 5, 2", [[4, 2, 3]]],
  ["LSTM", "3, 5, 2", [[4, 2, 3]]],
  ["GRU", "3, 5, 2", [[4, 2, 3]]],
  ["RNNCell", "3, 5", [[2, 3]]],
  ["LSTMCell", "3, 5", [[2, 3]]],
  ["GRUCell", "3, 5", [[2, 3]]],
  [
    "MultiheadAttention",
    "8, 2",
    [
      [5, 2, 8],
      [5, 2, 8],
      [5, 2, 8],
    ],
  ],
  ["TransformerEncoderLayer", "8, 2, 16, 0.0", [[5, 2, 8]]],
  [
    "TransformerDecoderLayer",
    "8, 2, 16, 0.0",
    [
      [5, 2, 8],
      [4, 2, 8],
    ],
  ],
  ["MaxPool2d", "2", [[1, 2, 4, 4]]],
  ["AvgPool1d", "2", [[1, 2, 4]]],
  ["AvgPool2d", "2", [[1, 2, 4, 4]]],
  ["AdaptiveAvgPool2d", "1", [[1, 2, 4, 4]]],
  ["LPPool2d", "2, 2", [[1, 2, 4, 4]]],
  ["PixelShuffle", "2", [[1, 4, 2, 2]]],
  ["Unfold", "2", [[1, 2, 3, 3]]],
  ["Fold", "3, 2", [[1, 8, 4]]],
  ["Flatten", "", [[2, 3, 4]]],
  ["ReflectionPad2d", "1", [[1, 2, 3, 3]]],
  ["CircularPad1d", "1", [[1, 2, 3]]],
  ["ReplicationPad2d", "1", [[1, 2, 3, 3]]],
  ["ZeroPad2d", "1", [[1, 2, 3, 3]]],
  ["GLU", "", [[2, 4]]],
  [
    "CosineSimilarity",
    "",
    [
      [3, 4],
      [3, 4],
    ],
  ],
  [
    "PairwiseDistance",
    "",
    [
      [3, 4],
      [3, 4],
    ],
  ],
  ...[
    ..."ReLU ReLU6 SiLU Mish SELU Hardswish Hardsigmoid ELU CELU LeakyReLU Hardtanh GELU Tanh Sigmoid LogSigmoid".split(
      " ",
    ),
    ..."Softsign Tanhshrink Softplus Softshrink Hardshrink Softmax2d".split(" "),
  ].map((name) => [name, "", [[2, 4, 3, 3]]]),
  ...["Softmax", "LogSoftmax", "Softmin"].map((name) => [name, "1", [[2, 3]]]),
  ...[
    "L1Loss",
    "MSELoss",
    "SmoothL1Loss",
    "HuberLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "KLDivLoss",
    "PoissonNLLLoss",
  ].map((name) => [
    name,
    "",
    [
      [4, 3],
      [4, 3],
    ],
  ]),
  [
    "SoftMarginLoss",
    "",
    [
      [4, 3],
      [4, 3],
    ],
  ],
  [
    "TripletMarginLoss",
    "",
    [
      [4, 3],
      [4, 3],
      [4, 3],
    ],
  ],
  [
    "CrossEntropyLoss",
    "",
    [
      [4, 3],
      [4, 3],
    ],
  ],
];

const kPython = `
def made(name, args, shapes):
    torch.manual_seed(5)
    layer = eval(f"nn.{name}({args})")
    inputs = [torch.rand(*shape) for shape in shapes]
    out = layer(*inputs)
    first = out[0] if isinstance(out, tuple) else out
    state = {key: value.flatten().tolist() if value.ndim else [value.item()] for key, value in layer.state_dict().items()}
    return json.dumps([state, first.flatten().tolist() if first.ndim else [first.item()], repr(layer)])
`;

describe("layers are those of edgegrad: state, results and text of", () => {
  run(python, kPython);
  const inPython = python.globals.get("made");
  for (const [name, args, shapes] of kLayers) {
    test(`${name}(${args})`, () => {
      const [state, values, text] = JSON.parse(inPython(name, args, python.toPy(shapes)));
      eg.manualSeed(5);
      const layer = new eg.nn[name](...JSON.parse(`[${args}]`));
      const inputs = shapes.map((shape) => eg.rand(shape));
      const made = layer.call(...inputs);
      const first = Array.isArray(made) ? made[0] : made;
      const plain = (tensor) => Array.from(tensor.detach().dataSync(), Number);
      const own = Object.entries(layer.stateDict()).map(([key, tensor]) => [key, plain(tensor)]);
      assert.deepEqual(state, Object.fromEntries(own));
      assert.deepEqual(
        Object.keys(state),
        own.map(([key]) => key),
      );
      const expected = plain(first);
      assert.equal(values.length, expected.length);
      for (const [i, value] of values.entries())
        assert.ok(
          Math.abs(value - expected[i]) <= 1e-5 * Math.max(1, Math.abs(expected[i])),
          `${value} ${expected[i]}`,
        );
      if (!/^(?:Multihead|Transformer)/.test(name)) assert.equal(text, String(layer));
    });
  }
});

describe("modules", () => testsIn(python, "python/modules.py"));

describe("optimizers", () => testsIn(python, "python/optimizers.py"));
