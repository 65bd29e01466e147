// String(module) is the text that PyTorch prints. The expected texts were printed by PyTorch 2.6.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

const kLayers = [
  [new nn.Linear(2, 3), "Linear(in_features=2, out_features=3, bias=True)"],
  [new nn.Linear(2, 3, false), "Linear(in_features=2, out_features=3, bias=False)"],
  [new nn.Bilinear(1, 2, 3), "Bilinear(in1_features=1, in2_features=2, out_features=3, bias=True)"],
  [new nn.Conv1d(1, 2, 3), "Conv1d(1, 2, kernel_size=(3,), stride=(1,))"],
  [
    new nn.Conv2d(1, 2, 3, { padding: 1, bias: false }),
    "Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)",
  ],
  [
    new nn.Conv2d(2, 2, [3, 1], { padding: "same", dilation: 2, groups: 2 }),
    "Conv2d(2, 2, kernel_size=(3, 1), stride=(1, 1), padding=same, dilation=(2, 2), groups=2)",
  ],
  [
    new nn.Conv2d(1, 1, 3, { paddingMode: "reflect" }),
    "Conv2d(1, 1, kernel_size=(3, 3), stride=(1, 1), padding_mode=reflect)",
  ],
  [
    new nn.ConvTranspose2d(1, 2, 3, { stride: 2, outputPadding: 1 }),
    "ConvTranspose2d(1, 2, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))",
  ],
  [
    new nn.BatchNorm2d(3),
    "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
  ],
  [
    new nn.BatchNorm1d(3, { momentum: null, eps: 0.001 }),
    "BatchNorm1d(3, eps=0.001, momentum=None, affine=True, track_running_stats=True)",
  ],
  [
    new nn.InstanceNorm2d(3),
    "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)",
  ],
  [new nn.GroupNorm(2, 4), "GroupNorm(2, 4, eps=1e-05, affine=True)"],
  [new nn.LayerNorm(4), "LayerNorm((4,), eps=1e-05, elementwise_affine=True)"],
  [new nn.LayerNorm([2, 4]), "LayerNorm((2, 4), eps=1e-05, elementwise_affine=True)"],
  [new nn.RMSNorm(4), "RMSNorm((4,), eps=None, elementwise_affine=True)"],
  [new nn.Embedding(5, 2), "Embedding(5, 2)"],
  [new nn.Embedding(5, 2, { paddingIdx: 0 }), "Embedding(5, 2, padding_idx=0)"],
  [new nn.Dropout(0.2), "Dropout(p=0.2, inplace=False)"],
  [new nn.Flatten(), "Flatten(start_dim=1, end_dim=-1)"],
  [new nn.Unflatten(1, [2, 3]), "Unflatten(dim=1, unflattened_size=(2, 3))"],
  [new nn.ReLU(), "ReLU()"],
  [new nn.GELU(), "GELU(approximate='none')"],
  [new nn.Softmax(1), "Softmax(dim=1)"],
  [
    new nn.MaxPool2d(2),
    "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
  ],
  [
    new nn.MaxPool2d([2, 3], { stride: [1, 2] }),
    "MaxPool2d(kernel_size=(2, 3), stride=(1, 2), padding=0, dilation=1, ceil_mode=False)",
  ],
  [new nn.AvgPool2d(3, { padding: 1 }), "AvgPool2d(kernel_size=3, stride=3, padding=1)"],
  [new nn.AdaptiveAvgPool2d([1, 1]), "AdaptiveAvgPool2d(output_size=(1, 1))"],
  [new nn.LSTM(2, 4), "LSTM(2, 4)"],
  [
    new nn.LSTM(2, 4, { projSize: 1, numLayers: 2, batchFirst: true, dropout: 0.5 }),
    "LSTM(2, 4, proj_size=1, num_layers=2, batch_first=True, dropout=0.5)",
  ],
  [
    new nn.GRU(2, 4, { bias: false, bidirectional: true }),
    "GRU(2, 4, bias=False, bidirectional=True)",
  ],
  [new nn.CrossEntropyLoss(), "CrossEntropyLoss()"],
  [new nn.ModuleList(), "ModuleList()"],
];

describe("the text of a module", () => {
  for (const [layer, text] of kLayers) {
    test(`is ${text}`, () => assert.equal(String(layer), text));
  }

  test("has its parts below it", () => {
    class Net extends nn.Module {
      features = new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU());
      heads = new nn.ModuleList([
        new nn.Linear(3, 1),
        new nn.Linear(3, 1),
        new nn.Sequential(new nn.Tanh()),
      ]);
      note = "none";

      extraRepr() {
        return "depth=2";
      }
    }
    const net = new Net();
    const text = `Net(
  depth=2
  (features): Sequential(
    (0): Linear(in_features=2, out_features=3, bias=True)
    (1): ReLU()
  )
  (heads): ModuleList(
    (0-1): 2 x Linear(in_features=3, out_features=1, bias=True)
    (2): Sequential(
      (0): Tanh()
    )
  )
)`;
    assert.equal(String(net), text);
    assert.equal(`${net}`, text);
    assert.equal(inspect(net), text);
  });

  test("is not computed with", () => {
    const layer = new nn.ReLU();
    for (const compute of [(m) => m + 1, (m) => m * 2, (m) => m > 1, Number]) {
      assertThrows(() => compute(layer), "InvalidArgument", /\[ReLU\].*call\(input\)/);
    }
  });
});
