// An op that selects elements passes the gradient only to the selected ones: even if it is infinite or NaN, all others get 0
// and not NaN from multiplying it by 0.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

// Limits the time for ops with many results.
const kResults = 6;

// These multiply by factors that may be 0 or cancel, as in PyTorch: masks, weights, matrix products.
const kMultiply = new Set([
  "affineGrid",
  "amax",
  "amin",
  "aminmax",
  "conv1d",
  "conv2d",
  "conv3d",
  "convTranspose1d",
  "corrcoef",
  "dequantize",
  "dropout",
  "eig",
  "eigh",
  "gradient",
  "gridSample",
  "hingeEmbeddingLoss",
  "householderProduct",
  "indexReduce",
  "interpolate",
  "istft",
  "logSoftmax",
  "lu",
  "luFactor",
  "masked.amax",
  "masked.amin",
  "masked.normalize",
  "masked.softmax",
  "masked.softmin",
  "matrixNorm",
  "multiMarginLoss",
  "linalg.luFactorEx",
  "linalg.norm",
  "norm",
  "qr",
  "quantizedLinear",
  "scaledDotProductAttention",
  "scatterReduce",
  "sgn",
  "softmax",
  "softmin",
  "solveTriangular",
  "stft",
  "tripletMarginLoss",
  "vectorNorm",
]);
const isFourier = ({ js }) => /^i?[hr]?fft/.test(js);

const kOps = [...opTable, ...compositeTable].filter(
  (op) =>
    !["internal", "factory"].includes(op.kind) &&
    !op.hasGradientOfItsOwn &&
    !kMultiply.has(op.js) &&
    !isFourier(op),
);

describe("an infinite or NaN gradient of one result reaches nothing that the result does not depend on", () => {
  for (const op of kOps) {
    test(op.js, () => {
      for (const { text, make } of samplesOf(op)) {
        const wrong = eg.scope(() => wrongPlaces(op, make()));
        assert.deepEqual(wrong, [], text);
      }
    });
  }
});

function wrongPlaces(op, args) {
  const leaves = args.flat(2).filter((one) => one instanceof eg.Tensor && one.requiresGrad);
  const outputs = callOp(op, args).filter(({ requiresGrad }) => requiresGrad);
  const wrong = [];
  if (leaves.length === 0) return wrong;
  for (const [i, output] of outputs.entries()) {
    for (let k = 0; k < Math.min(output.numel, kResults); k++) {
      const plain = gradients(output, leaves, k, 1);
      for (const value of [Infinity, Number.NaN]) {
        const spread = gradients(output, leaves, k, value);
        const isWrong = plain.some((one, at) => one === 0 && spread[at] !== 0);
        if (isWrong) wrong.push(`${value} of element ${k} of result ${i}`);
      }
    }
  }
  return wrong;
}

// The gradients of the k-th element times a factor with respect to all leaves, concatenated.
function gradients(output, leaves, k, factor) {
  const { shape, dtype, numel } = output;
  const seed = eg.tensor(
    Array.from({ length: numel }, (_, i) => (i === k ? factor : 0)),
    { shape, dtype },
  );
  const options = { gradOutputs: [seed], retainGraph: true, materializeGrads: true };
  const grads = eg.autograd.grad([output], leaves, options);
  return grads.flatMap((grad) => {
    const parts = grad.dtype.startsWith("complex") ? eg.viewAsReal(grad) : grad;
    return Array.from(parts.dataSync());
  });
}

const kNan = Number.NaN;

function gradientOf(values, f) {
  const x = eg.tensor(values, { dtype: "float64", requiresGrad: true });
  f(x).backward();
  return x.grad.dataSync();
}

describe("the extremes of all elements", () => {
  const kCases = {
    "max()": [[0, -1, -2], (x) => x.max().sqrt(), [Infinity, 0, 0]],
    "min()": [[0, 1, 2], (x) => x.min().sqrt(), [Infinity, 0, 0]],
    "median()": [[-1, 0, 2], (x) => x.median().sqrt(), [0, Infinity, 0]],
    "nanmedian()": [[-1, 0, 2, kNan], (x) => x.nanmedian().sqrt(), [0, Infinity, 0, 0]],
    "max() of equals": [[0, 0, -2], (x) => x.max().sqrt(), [Infinity, Infinity, 0]],
    "max() of NaN": [[kNan, 0, -2], (x) => x.max(), [1, 0, 0]],
    "max(dim)": [[0, -1, -2], (x) => x.max(0)[0].sqrt(), [Infinity, 0, 0]],
  };
  for (const [name, [values, f, expected]] of Object.entries(kCases)) {
    test(`${name} hands its gradient to what it is`, () => {
      assertClose(gradientOf(values, f), expected);
    });
  }
});

describe("gradients at the ends of what logarithms and means can say", () => {
  const kCases = {
    "nanmean() of NaN alone": [[kNan, kNan], (x) => x.nanmean(), [kNan, kNan]],
    "nanmean() beside NaN": [[kNan, 3, 5], (x) => x.nanmean(), [0, 0.5, 0.5]],
    "nansum()": [[kNan, 3], (x) => x.nansum(), [0, 1]],
    "nansum() that is multiplied by infinity": [
      [kNan, 0],
      (x) => x.nansum().sqrt(),
      [kNan, Infinity],
    ],
    "logcumsumexp() behind -infinity": [
      [-Infinity, -Infinity, 2],
      (x) => x.logcumsumexp(0).at(2),
      [0, 0, 1],
    ],
    "logcumsumexp() around -infinity": [
      [0, -Infinity, 0],
      (x) => x.logcumsumexp(0).sum(),
      [2.5, 0, 0.5],
    ],
    "norm() at 0": [[0, 0], (x) => x.norm(), [0, 0]],
    "norm() at 0 that is multiplied by infinity": [[0, 0], (x) => x.norm().sqrt(), [kNan, kNan]],
  };
  for (const [name, [values, f, expected]] of Object.entries(kCases)) {
    test(name, () => assertClose(gradientOf(values, f), expected));
  }

  test("the second derivative of logcumsumexp() behind -infinity is finite", () => {
    const x = eg.tensor([-Infinity, 0, 1], { dtype: "float64", requiresGrad: true });
    const [grad] = eg.autograd.grad(x.logcumsumexp(0).at(2), [x], { createGraph: true });
    const [second] = eg.autograd.grad(grad.square().sum(), [x]);
    assert.ok(second.isfinite().all().item());
  });
});

test("nothing of an infinite loss reaches classes that are no targets", () => {
  const x = eg.tensor([[-1, -2, -3]], { dtype: "float64", requiresGrad: true });
  eg.nllLoss(x, eg.tensor([1n])).backward(eg.tensor(Infinity, { dtype: "float64" }));
  assertClose(x.grad.dataSync(), [0, -Infinity, 0]);
});

test("masked.logsumexp() takes complex numbers, of which those left out count as nothing", () => {
  const z = eg.complex(eg.tensor([1, 5, 2]), eg.tensor([0.5, 1, -1])).requiresGrad_();
  const mask = eg.tensor([true, false, true]);
  const got = eg.masked.logsumexp(z, { mask });
  const expected = eg.logsumexp(eg.indexSelect(z, 0, eg.tensor([0n, 2n])), 0);
  assert.ok(eg.allclose(got, expected));
  const [grad] = eg.autograd.grad(got.abs(), z);
  assert.ok(eg.allclose(grad, eg.autograd.grad(expected.abs(), z)[0]));
});
