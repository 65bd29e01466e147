// Layers of images: convolution, pooling, normalization per channel.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

describe("convolutions", () => {
  test("draw the weight, then the bias, within one over the root of the fan in", () => {
    eg.manualSeed(3);
    const layer = new nn.Conv2d(2, 4, 3, { stride: 2, padding: 1, groups: 2 });
    assert.deepEqual(Object.keys(layer.stateDict()), ["weight", "bias"]);
    assert.deepEqual(layer.weight.shape, [4, 1, 3, 3]);
    eg.manualSeed(3);
    const bound = 1 / 3;
    const weight = eg.empty([4, 1, 3, 3]).uniform_(-bound, bound);
    const bias = eg.empty([4]).uniform_(-bound, bound);
    assertTensor(layer.weight, weight.dataSync());
    assertTensor(layer.bias, bias.dataSync());
    assert.deepEqual(layer.call(eg.ones([1, 2, 5, 5])).shape, [1, 4, 3, 3]);
  });

  test("take their arguments by position as well", () => {
    const layer = new nn.Conv1d(2, 4, 3, 1, "same", 1, 1, false, "circular", { dtype: "float64" });
    assert.equal(layer.bias, null);
    assert.equal(layer.weight.dtype, "float64");
    assert.deepEqual(layer.call(eg.ones([1, 2, 5], { dtype: "float64" })).shape, [1, 4, 5]);
  });

  test("pad as paddingMode says", () => {
    const layer = new nn.Conv1d(1, 1, 3, { padding: 1, paddingMode: "circular", bias: false });
    nn.init.ones_(layer.weight);
    assertTensor(layer.call(eg.tensor([[[1, 2, 4]]])), [7, 7, 7], { shape: [1, 1, 3] });
  });

  test("a transposed convolution inverts the size", () => {
    const layer = new nn.ConvTranspose2d(4, 2, 3, { stride: 2, padding: 1, outputPadding: 1 });
    assert.deepEqual(layer.weight.shape, [4, 2, 3, 3]);
    assert.deepEqual(layer.call(eg.ones([1, 4, 3, 3])).shape, [1, 2, 6, 6]);
  });

  test("refuse groups that do not divide the channels", () => {
    assertThrows(
      () => new nn.Conv2d(3, 4, 1, { groups: 2 }),
      "InvalidArgument",
      /inChannels must be divisible by groups, got 3 and 2/,
    );
  });
});

describe("normalization", () => {
  test("BatchNorm tracks the batches and uses the running statistics in evaluation", () => {
    const layer = new nn.BatchNorm1d(1, { momentum: 0.5, eps: 0 });
    assert.deepEqual(Object.keys(layer.stateDict()), [
      "weight",
      "bias",
      "running_mean",
      "running_var",
      "num_batches_tracked",
    ]);
    assertTensor(layer.call(eg.tensor([[1], [3]])), [-1, 1]);
    assert.equal(layer.running_mean.item(), 1);
    assert.equal(layer.running_var.item(), 1.5);
    assert.equal(Number(layer.num_batches_tracked.item()), 1);
    layer.eval();
    assertTensor(layer.call(eg.tensor([[1]])), [0]);
    assert.equal(Number(layer.num_batches_tracked.item()), 1);
  });

  test("BatchNorm without momentum averages over all batches", () => {
    const layer = new nn.BatchNorm2d(1, { momentum: null });
    layer.call(eg.full([2, 1, 1, 1], 2, { dtype: "float32" }));
    layer.call(eg.full([2, 1, 1, 1], 4, { dtype: "float32" }));
    assert.equal(layer.running_mean.item(), 3);
  });

  test("BatchNorm checks the number of dimensions", () => {
    assertThrows(
      () => new nn.BatchNorm2d(1).call(eg.ones([2, 1])),
      "ShapeMismatch",
      /expected a 4D input, got 2D/,
    );
  });

  test("InstanceNorm2d learns and tracks nothing by default", () => {
    const layer = new nn.InstanceNorm2d(2);
    assert.deepEqual(Object.keys(layer.stateDict()), []);
    assert.deepEqual(layer.call(eg.randn([2, 3, 3])).shape, [2, 3, 3]);
    const tracking = new nn.InstanceNorm2d(2, { affine: true, trackRunningStats: true });
    assert.equal(Object.keys(tracking.stateDict()).length, 5);
  });

  test("GroupNorm scales every channel", () => {
    const layer = new nn.GroupNorm(1, 2, { eps: 0 });
    nn.init.constant_(layer.weight, 2);
    assertTensor(layer.call(eg.tensor([[1, 3]])), [-2, 2]);
  });
});

describe("pooling", () => {
  test("takes options by name and by position", () => {
    const image = eg.arange(16, { dtype: "float32" }).reshape([1, 4, 4]);
    assertTensor(new nn.MaxPool2d(2).call(image), [5, 7, 13, 15], { shape: [1, 2, 2] });
    assert.deepEqual(new nn.MaxPool2d(3, 2, 1).call(image).shape, [1, 2, 2]);
    assert.equal(new nn.MaxPool2d(2, { returnIndices: true }).call(image).length, 2);
    const mean = new nn.AvgPool2d(2, { stride: 1 }).call(image);
    assert.deepEqual(mean.shape, [1, 3, 3]);
    assertTensor(new nn.AdaptiveAvgPool2d(1).call(image), [7.5]);
  });

  test("MaxUnpool1d/2d/3d put back what a pooling found, as PyTorch does", () => {
    const image = eg.tensor([
      [
        [1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12, 13, 14, 15],
      ],
    ]);
    const [maxima, places] = new nn.MaxPool2d(2, { returnIndices: true }).call(image);
    const unpool = new nn.MaxUnpool2d(2);
    assertTensor(unpool.call(maxima, places, { outputSize: [1, 3, 5] }), [
      ...[0, 0, 0, 0, 0],
      ...[0, 7, 0, 9, 0],
      ...[0, 0, 0, 0, 0],
    ]);
    assert.deepEqual(unpool.call(maxima, places, [2, 5]).shape, [1, 2, 5]);
    assert.equal(`${unpool}`, "MaxUnpool2d(kernel_size=(2, 2), stride=(2, 2), padding=(0, 0))");
    assert.equal(
      `${new nn.MaxUnpool1d(3, { stride: 2, padding: 1 })}`,
      "MaxUnpool1d(kernel_size=(3,), stride=(2,), padding=(1,))",
    );
    const options = { returnIndices: true };
    const line = new nn.MaxPool1d(2, options).call(eg.tensor([[[3, 1, 2, 4]]]));
    assertTensor(new nn.MaxUnpool1d(2).call(...line), [3, 0, 0, 4]);
    const volume = new nn.MaxPool3d(2, options).call(eg.arange(8).float().reshape([1, 2, 2, 2]));
    assertTensor(new nn.MaxUnpool3d(2).call(...volume), [0, 0, 0, 0, 0, 0, 0, 7]);
  });

  test("UpsamplingNearest2d and UpsamplingBilinear2d are Upsample with a mode", () => {
    const image = eg.tensor([
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ]);
    const nearest = new nn.UpsamplingNearest2d({ scaleFactor: 2 });
    assertTensor(nearest.call(image), [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4]);
    const bilinear = new nn.UpsamplingBilinear2d([3, 3]);
    assertTensor(bilinear.call(image), [1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4]);
    assert.equal(`${nearest}`, "UpsamplingNearest2d(scale_factor=2.0, mode='nearest')");
    assert.equal(`${bilinear}`, "UpsamplingBilinear2d(size=(3, 3), mode='bilinear')");
    assertThrows(() => new nn.UpsamplingNearest2d(), "InvalidArgument", /size or scaleFactor/);
  });
});

test("Upsample takes the mode nearest-exact", () => {
  const x = eg.tensor([[[1, 2, 3]]]);
  const layer = new eg.nn.Upsample({ size: 5, mode: "nearest-exact" });
  const expected = eg.nn.functional.interpolate(x, { size: 5, mode: "nearest-exact" });
  assert.deepEqual(layer.call(x).tolist(), expected.tolist());
});
