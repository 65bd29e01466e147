// Properties of composites for images, matrices and spectra, in addition to the comparison with PyTorch's numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

const float64 = { dtype: "float64" };

describe("one undoes the other:", () => {
  test("istft() and stft()", () => {
    const signal = eg.randn([2, 50], float64);
    const window = eg.hannWindow(8, float64);
    const spectra = eg.stft(signal, 8, { window, returnComplex: true });
    assert.ok(eg.allclose(eg.istft(spectra, 8, { window, length: 50 }), signal));
  });

  test("ifftn() and fftn(), irfft2() and rfft2(), ifftshift() and fftshift()", () => {
    const image = eg.randn([3, 5], float64);
    assert.ok(eg.allclose(eg.real(eg.ifftn(eg.fftn(image))), image));
    assert.ok(eg.allclose(eg.irfft2(eg.rfft2(image), [3, 5]), image));
    assert.ok(eg.equal(eg.ifftshift(eg.fftshift(image)), image));
  });

  test("matrixExp() of a matrix and of its negative", () => {
    const drawn = eg.randn([2, 3, 3], float64).mul(eg.tensor([0.1, 5]).reshape([2, 1, 1]));
    // Rotations: the exponential of other matrices may be too large for its digits.
    const matrices = drawn.sub(drawn.mT);
    const product = eg.matmul(eg.matrixExp(matrices), eg.matrixExp(matrices.neg()));
    assert.ok(eg.allclose(product, eg.eye(3, float64).expand([2, 3, 3]), { atol: 1e-6 }));
  });

  test("maxUnpool3d() and maxPool3d()", () => {
    const volume = eg.rand([1, 2, 4, 4, 4]);
    const [largest, places] = eg.maxPool3d(volume, 2, { returnIndices: true });
    assert.ok(eg.equal(eg.maxPool3d(eg.maxUnpool3d(largest, places, 2), 2), largest));
  });
});

describe("impossible arguments are refused:", () => {
  const volume = eg.ones([1, 2, 4, 4, 4]);
  const weight = eg.ones([3, 2, 2, 2, 2]);
  const refused = {
    "channels that a kernel is not for": [
      () => eg.conv3d(eg.ones([1, 3, 4, 4, 4]), weight),
      /\[conv3d\].*2 channels.*got 3/,
    ],
    "same padding with strides": [
      () => eg.conv3d(volume, weight, { padding: "same", stride: [1, 1, 2] }),
      /\[conv3d\].*same.*stride/,
    ],
    "an output padding of a whole stride": [
      () => eg.convTranspose3d(volume, weight.transpose(0, 1), { outputPadding: [1, 0, 0] }),
      /outputPadding: .*less than the stride, 1, or the dilation, 1, got 1/,
    ],
    "a division by zero": [
      () => eg.avgPool3d(volume, 2, { divisorOverride: 0 }),
      /divisorOverride: .*other than 0/,
    ],
    "samples in no window": [
      () => eg.istft(eg.complex(eg.ones([5, 3]), eg.ones([5, 3])), 8, { window: eg.zeros([8]) }),
      /\[istft\] window: .*covered.* 0\./,
    ],
    "a norm without a name": [() => eg.norm(volume, "max"), /\[norm\] p: .*"fro" or "nuc"/],
  };
  for (const [what, [call, message]] of Object.entries(refused)) {
    test(what, () => assert.throws(call, message));
  }
});

test("an infinite matrix has no exponential, and the others of its batch have theirs", () => {
  const matrices = eg.stack([eg.full([2, 2], Infinity, float64), eg.eye(2, float64).mul(3)]);
  const [infinite, finite] = eg.matrixExp(matrices).unbind();
  assert.ok(eg.isnan(infinite).all().item());
  assert.ok(eg.allclose(finite, eg.eye(2, float64).mul(Math.exp(3))));
});

test("bags that are all empty have a gradient for the table", () => {
  const weight = eg.ones([3, 2], { requiresGrad: true });
  const none = eg.zeros([0], { dtype: "int64" });
  const offsets = eg.zeros([2], { dtype: "int64" });
  for (const mode of ["sum", "mean", "max"]) {
    const bags = eg.embeddingBag(none, weight, offsets, { mode });
    assert.deepEqual(bags.tolist(), [
      [0, 0],
      [0, 0],
    ]);
    assert.equal(eg.autograd.grad([bags.sum()], [weight])[0].abs().sum().item(), 0, mode);
  }
});

test("bags that are refused leave the table as it was, though a largest norm would scale it", () => {
  const bags = eg.tensor([[0n, 1n]]);
  const complex = eg.full([2, 2], 3, { dtype: "complex64" });
  const real = eg.full([2, 2], 3);
  for (const [weight, options] of [
    [complex, { mode: "mean" }],
    [complex, { mode: "max" }],
    [real, { paddingIdx: 2 }],
    [real, { mode: "mean", perSampleWeights: eg.ones([1, 2]) }],
  ]) {
    assert.throws(() => eg.embeddingBag(bags, weight, { maxNorm: 1, ...options }), {
      name: "EdgeGradError",
      message: /^\[embeddingBag\] /,
    });
    assert.equal(weight.version, 0, JSON.stringify(options));
    assert.deepEqual(weight.abs().tolist(), eg.full([2, 2], 3).tolist());
  }
});
