// Which results share memory with an operand: views, and operands that PyTorch returns unchanged. All others have separate memory,
// even if there is nothing to compute.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

const kDTypes = [
  "float64",
  "float32",
  "float16",
  "complex128",
  "complex64",
  "int64",
  "int32",
  "uint8",
  "bool",
];

// Ops that return views where possible.
const kViews = new Set([
  "adjoint",
  "asStrided",
  "atleast1d",
  "atleast2d",
  "atleast3d",
  "broadcastTensors",
  "broadcastTo",
  "cartesianProd",
  "chunk",
  "detach",
  "diagonal",
  "linalg.diagonal",
  "dsplit",
  "expand",
  "expandAs",
  "flatten",
  "hsplit",
  "imag",
  "meshgrid",
  "movedim",
  "narrow",
  "permute",
  "ravel",
  "reshape",
  "select",
  "split",
  "splitWithSizes",
  "squeeze",
  "sumToSize",
  "swapaxes",
  "t",
  "tensorSplit",
  "transpose",
  "unbind",
  "unflatten",
  "unfold",
  "unsqueeze",
  "view",
  "viewAs",
  "viewAsComplex",
  "viewAsReal",
  "vsplit",
]);

// Ops that return the operand in PyTorch if there is nothing to do.
const kSame = new Set(["conj", "contiguous", "dropout", "real"]);

// Calls with nothing to compute, in addition to the samples and those with one element.
const kTrivialCalls = {
  prod: ["T([1])", "T([2, 1]), 1", "T([2, 1]), 1, true", "T([1, 2]), 0", "T([1, 1])"],
  sum: ["T([2, 1]), 1", "T([2, 1]), 1, true", "T([]), []"],
  mean: ["T([2, 1]), 1"],
  amax: ["T([2, 1]), 1", "T([2, 1]), 1, true"],
  max: ["T([2, 1]), 1", "T([2, 1]), 1, true", "T([])"],
  median: ["T([2, 1]), 1", "T([])"],
  mode: ["T([2, 1]), 1"],
  sort: ["T([2, 1]), 1", "T([])"],
  topk: ["T([2, 1]), 1"],
  cumsum: ["T([2, 1]), 1", "T([]), 0"],
  cumprod: ["T([2, 1]), 1", "T([]), 0"],
  cummax: ["T([2, 1]), 1"],
  logcumsumexp: ["T([2, 1]), 1", "T([]), 0"],
  logsumexp: ["T([2, 1]), 1"],
  diff: ["T([3]), 0", "T([2, 3]), 0"],
  cat: ["[T([2, 3])]", "[T([2, 3]), T([0])]", "[T([2, 3])], 1"],
  stack: ["[T([2])]"],
  tile: ["T([2, 3]), [1, 1]", "T([2, 3]), [1]"],
  repeat: ["T([2, 3]), [1, 1]"],
  repeatInterleave: ["T([3]), 1", "T([2, 3]), 1, 0"],
  roll: ["T([2, 3]), 0", "T([2, 3]), [0], [0]"],
  rot90: ["T([2, 3]), 0", "T([2, 3]), 4"],
  flip: ["T([2, 3]), []", "T([1, 1]), [0, 1]"],
  pad: ["T([2, 3]), [0, 0]", "T([1, 2, 3]), [0, 0], 'reflect'"],
  clone: ["T([2, 3])"],
  tril: ["T([1, 1])", "T([2, 2]), 5"],
  triu: ["T([1, 1])", "T([2, 2]), -5"],
  indexSelect: ["T([1, 2]), 0, I([1], 1)"],
  gather: ["T([1]), 0, I([1], 1)"],
  take: ["T([1]), I([1], 1)"],
  where: ["B([1]).logicalOr(true), T([1]), T([1])"],
  maskedFill: ["T([2]), B([2]).logicalAnd(false), 0"],
  clamp: ["T([2]), -1000, 1000"],
  mul: ["T([2]), 1"],
  add: ["T([2]), 0"],
  div: ["T([2]), 1"],
  pow: ["T([2]), 1"],
  abs: ["T([2], 1, 2)"],
  floor: ["T([2])"],
  ceil: ["T([2])"],
  round: ["T([2])", "T([2]), 3"],
  trunc: ["T([2])"],
  nanToNum: ["T([2])"],
  relu: ["T([2], 1, 2)"],
  threshold: ["T([2], 1, 2), 0, 0"],
  dropout: ["T([2, 3]), 0.5, true"],
  einsum: ["'ij->ij', [T([2, 2])]", "'ii->i', [T([2, 2])]", "'ij->ji', [T([2, 2])]"],
  matmul: ["T([1]), T([1])", "T([1, 1]), T([1, 1])"],
  interpolate: ["T([1, 1, 2, 2]), [2, 2]"],
  avgPool2d: ["T([1, 1, 2, 2]), 1"],
  maxPool2d: ["T([1, 1, 2, 2]), 1"],
  adaptiveAvgPool2d: ["T([1, 1, 2, 2]), [2, 2]"],
  pixelShuffle: ["T([1, 1, 2, 2]), 1"],
  pixelUnshuffle: ["T([1, 1, 2, 2]), 1"],
  matrixPower: ["T([2, 2]), 1"],
  sumToSize: ["T([2, 3]), [1, 3]"],
  blockDiag: ["[T([2, 2])]"],
  columnStack: ["[T([2, 2])]"],
  vstack: ["[T([2, 2])]"],
  hstack: ["[T([2, 2])]"],
  dstack: ["[T([2, 2, 1])]"],
  diag: ["T([2, 2])", "T([1, 1])", "T([1])"],
  diagEmbed: ["T([1])"],
  trace: ["T([1, 1])"],
  renorm: ["T([2, 2]), 2, 0, 1000"],
  unique: ["T([1])"],
  quantile: ["T([1]), 0.5"],
  trapezoid: ["T([2])"],
  kron: ["T([1]), T([1])"],
  outer: ["T([1]), T([1])"],
  inner: ["T([]), T([])"],
  channelShuffle: ["T([1, 2, 2, 2]), 1", "T([1, 2, 2, 2]), 2"],
  nansum: ["T([2, 1]), 1"],
  nanmean: ["T([2, 1]), 1"],
  norm: ["T([1])", "T([2, 1]), 2, 1"],
  std: ["T([2, 1]), 1, 0"],
};

// The sample with one element in each dimension of every tensor.
const ofOnes = (text) =>
  text.replaceAll(/\b([TCB])\(\[([\d, ]*)\]/g, (_, kind, sizes) => {
    return `${kind}([${sizes.replaceAll(/\d+/g, "1")}]`;
  });

function textsOf(op) {
  const texts = samplesOf(op).map(({ text }) => text);
  return [...new Set([...texts, ...texts.map(ofOnes), ...(kTrivialCalls[op.js] ?? [])])];
}

const tensorsOf = (list) => list.flat(2).filter((one) => one instanceof eg.Tensor);

// The results of a call that change when an operand is overwritten: { result, operand }.
function sharers(op, text, dtype) {
  const [{ make }] = samplesOf({ ...op, kind: "function", samples: [text] });
  const made = make(dtype);
  if (made === null) return [];
  // Not leaves that require a gradient, which cannot be changed in place.
  const args = made.map(function plain(one) {
    if (Array.isArray(one)) return one.map(plain);
    return one instanceof eg.Tensor ? one.detach() : one;
  });
  const operands = tensorsOf(args).filter(({ numel }) => numel > 0);
  const results = tensorsOf(callOp(op, args)).filter(({ numel }) => numel > 0);
  const found = [];
  eg.noGrad(() => {
    for (const operand of operands) {
      const bytes = [0, 1].map((value) => {
        operand.fill_(operand.dtype.startsWith("complex") ? { re: value, im: value } : value);
        return results.map((result) => String(result.dataSync()));
      });
      results.forEach((result, i) => {
        if (bytes[0][i] !== bytes[1][i]) found.push({ result, operand });
      });
    }
  });
  return found;
}

const kRefusals = ["DtypeMismatch", "InvalidArgument", "ShapeMismatch", "IndexOutOfRange"];

function sharersOf(op) {
  const found = [];
  for (const text of textsOf(op)) {
    for (const dtype of kDTypes) {
      try {
        for (const one of sharers(op, text, dtype))
          found.push({ ...one, call: `${text}, ${dtype}` });
      } catch (error) {
        if (!kRefusals.includes(error.code)) throw error;
      }
    }
  }
  return found;
}

const isPublic = ({ kind, js }) => kind !== "internal" && kind !== "factory" && !js.endsWith("_");
const kOps = [...opTable, ...compositeTable].filter(isPublic);

describe("a result that is no view shares no memory with an operand", () => {
  for (const op of kOps.filter(({ js }) => !kViews.has(js) && !kSame.has(js))) {
    test(op.js, () =>
      eg.scope(() => {
        assert.deepEqual(
          sharersOf(op).map(({ call }) => call),
          [],
        );
      }),
    );
  }
});

describe("a view is a tensor of its own, of which the shape and the requirement of a gradient are", () => {
  for (const op of kOps.filter(({ js }) => kViews.has(js))) {
    test(op.js, () =>
      eg.scope(() => {
        const found = sharersOf(op);
        assert.ok(found.length > 0, "no sample gives a view");
        for (const { result, operand, call } of found) assertApart(result, operand, call);
      }),
    );
  }

  const kWhole = {
    "'...'": ["..."],
    nothing: [],
    "a full slice": [eg.slice()],
    both: [eg.slice(), "..."],
  };
  for (const [name, index] of Object.entries(kWhole)) {
    test(`at() with ${name}`, () =>
      eg.scope(() => {
        const x = eg.ones([2, 3]);
        assertApart(x.at(...index), x, name);
        const y = x.at(...index);
        assert.notEqual(y, x);
        y.fill_(3);
        assert.equal(x.sum().item(), 18);
        const root = eg.ones([2, 3], { requiresGrad: true });
        const inner = root.mul(1);
        assert.throws(() => inner.at(...index).detach_(), { code: "ViewInPlace" });
        inner.at(...index).unsqueeze_(0);
        assert.deepEqual(inner.shape, [2, 3]);
        inner
          .at(...index)
          .sum()
          .backward();
        assert.equal(root.grad.sum().item(), 6);
      }));
  }
});

// Distinguishes two tensors that share memory.
function assertApart(result, operand, what) {
  const { shape } = operand;
  try {
    if (result.ndim < 16) result.unsqueeze_(0);
  } catch (error) {
    // One of several views of an op.
    assert.equal(error.code, "ViewInPlace", what);
  }
  assert.deepEqual(operand.shape, shape, what);
  if (!/^(float|complex)/.test(result.dtype)) return;
  result.requiresGrad_(true);
  assert.equal(operand.requiresGrad, false, what);
}

describe("the product of one complex number", () => {
  for (const args of [[0], [0, true], [-1, true], []]) {
    test(`along [${args}] is recorded`, () =>
      eg.scope(() => {
        const z = eg.complex(eg.tensor([2]), eg.tensor([3])).requiresGrad_();
        const product = z.prod(...args);
        assert.notEqual(product.gradFn, null);
        product.abs().sum().backward();
        assert.notEqual(z.grad, null);
      }));
  }
});
