// Normalization and distances.

import type { DType } from "edgegrad";
import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import type { Size, Value } from "../values.js";

const layerNorm: Writer = (c) => {
  const dims = c.ints("normalizedShape");
  const [weight, bias] = [c.optional("weight"), c.optional("bias")];
  const scale = weight === null ? fill(c, dims, 1) : c.as(weight);
  return c.node("LayerNormalization", [c.in("input"), scale, bias === null ? null : c.as(bias)], {
    axis: -dims.length,
    epsilon: { float: c.number("eps") },
  });
};

function fill(c: Call, sizes: readonly number[], value: number): Name {
  return c.node("Expand", [c.scalar(value), c.list(sizes)]);
}

const kEpsilons: Readonly<Partial<Record<DType, number>>> = {
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
  float64: 2 ** -52,
};

const rmsNorm: Writer = (c) => {
  const dims = c.ints("normalizedShape").map((_, i, all) => i - all.length);
  const x = c.in("input");
  const weight = c.optional("weight");
  const eps = c.isLeftOut("eps") ? (kEpsilons[c.out.dtype] ?? 2 ** -23) : c.number("eps");
  const { rank } = c.value("input");
  const mean = c.reduce(
    "ReduceMean",
    c.node("Mul", [x, x]),
    dims.map((dim) => dim + rank),
    true,
  );
  const root = c.node("Sqrt", [c.node("Add", [mean, c.scalar(eps)])]);
  const result = c.node("Div", [x, root]);
  return weight === null ? result : c.node("Mul", [result, c.as(weight)]);
};

// A tensor with one element per channel (dimension 1).
function channels(c: Call, value: Value | null, fallback: number, count: Size): Name {
  if (value !== null) return c.as(value, c.out.dtype);
  return fill(c, [c.fixedNumber("the number of channels", count)], fallback);
}

const batchNorm: Writer = (c) => {
  const input = c.value("input");
  const [mean, variance] = [c.optional("runningMean"), c.optional("runningVar")];
  if (c.is("training") || mean === null || variance === null) return batchStatistics(c);
  const count = input.size(1);
  const scale = channels(c, c.optional("weight"), 1, count);
  const bias = channels(c, c.optional("bias"), 0, count);
  return c.node(
    "BatchNormalization",
    [c.in("input"), scale, bias, c.as(mean, c.out.dtype), c.as(variance, c.out.dtype)],
    { epsilon: { float: c.number("eps") } },
  );
};

// The statistics of the batch itself.
function batchStatistics(c: Call): Name {
  const { rank } = c.value("input");
  const dims = Array.from({ length: rank }, (_, i) => i).filter((axis) => axis !== 1);
  const x = c.in("input");
  const distance = c.node("Sub", [x, c.reduce("ReduceMean", x, dims, true)]);
  const variance = c.reduce("ReduceMean", c.node("Mul", [distance, distance]), dims, true);
  const root = c.node("Sqrt", [c.node("Add", [variance, c.scalar(c.number("eps"))])]);
  return affine(c, c.node("Div", [distance, root]));
}

// Scales and shifts each channel.
function affine(c: Call, name: Name): Name {
  const { rank } = c.value("input");
  const places = Array.from({ length: Math.max(0, rank - 2) }, (_, i) => i + 1);
  const of = (value: Value) => c.unsqueeze(c.as(value, c.out.dtype), places);
  const [weight, bias] = [c.optional("weight"), c.optional("bias")];
  const scaled = weight === null ? name : c.node("Mul", [name, of(weight)]);
  return bias === null ? scaled : c.node("Add", [scaled, of(bias)]);
}

// Each group is an instance with one channel.
const groupNorm: Writer = (c) => {
  const input = c.value("input");
  const groups = c.number("numGroups");
  const sizes = input.sizes();
  // Reshape's 0 keeps the size of the batch, and -1 takes the rest.
  const rows = c.node("Reshape", [c.in("input"), c.list([0, groups, -1])]);
  const [scale, bias] = [fill(c, [groups], 1), fill(c, [groups], 0)];
  const epsilon = { float: c.number("eps") };
  const normal = c.node("InstanceNormalization", [rows, scale, bias], { epsilon });
  return affine(c, c.exporter.reshape(normal, [], sizes));
};

const instanceNorm: Writer = (c) => {
  if (!c.is("useInputStats")) {
    return batchNorm(c);
  }
  const count = c.value("input").size(1);
  const scale = channels(c, c.optional("weight"), 1, count);
  const bias = channels(c, c.optional("bias"), 0, count);
  const epsilon = { float: c.number("eps") };
  return c.node("InstanceNormalization", [c.in("input"), scale, bias], { epsilon });
};

/** Returns the p-norm of a tensor over dimensions. */
export function length(c: Call, x: Name, p: number, dims: readonly number[], keep: boolean): Name {
  if (p === 2) return c.reduce("ReduceL2", x, dims, keep);
  if (p === 1) return c.reduce("ReduceL1", x, dims, keep);
  const size = c.node("Abs", [x]);
  if (p === Infinity) return c.reduce("ReduceMax", size, dims, keep);
  if (!(p > 0)) noForm(`the norm with p = ${p}`);
  const sum = c.reduce("ReduceSum", c.node("Pow", [size, c.scalar(p)]), dims, keep);
  return c.node("Pow", [sum, c.scalar(1 / p)]);
}

const normalize: Writer = (c) => {
  const { rank } = c.value("input");
  const size = length(c, c.in("input"), c.number("p"), c.dims("dim", rank), true);
  return c.node("Div", [c.in("input"), c.node("Max", [size, c.scalar(c.number("eps"))])]);
};

const cosineSimilarity: Writer = (c) => {
  const axis = c.dim("dim", Math.max(c.value("x1").rank, c.value("x2").rank));
  const [first, second] = [c.in("x1", c.out.dtype), c.in("x2", c.out.dtype)];
  const isSame = String(c.value("x1").sizes()) === String(c.value("x2").sizes());
  const wide = (x: Name, other: Name) =>
    isSame ? x : c.node("Expand", [x, c.node("Shape", [other])]);
  const [a, b] = [wide(first, second), wide(second, first)];
  return cosine(c, a, b, axis, c.number("eps"));
};

// The cosine of the angle between vectors along a dimension.
function cosine(c: Call, a: Name, b: Name, axis: number, eps: number): Name {
  const product = c.reduce("ReduceSum", c.node("Mul", [a, b]), [axis], false);
  const size = (x: Name) => c.node("Max", [c.reduce("ReduceL2", x, [axis], false), c.scalar(eps)]);
  return c.node("Div", [product, c.node("Mul", [size(a), size(b)])]);
}

const pairwiseDistance: Writer = (c) => {
  const rank = Math.max(c.value("x1").rank, c.value("x2").rank);
  const difference = c.node("Sub", [c.in("x1", c.out.dtype), c.in("x2", c.out.dtype)]);
  const moved = c.node("Add", [difference, c.scalar(c.number("eps"))]);
  return length(c, moved, c.number("p"), [rank - 1], c.is("keepdim"));
};

const cdist: Writer = (c) => {
  const rows = c.unsqueeze(c.in("x1", c.out.dtype), [c.value("x1").rank - 1]);
  const columns = c.unsqueeze(c.in("x2", c.out.dtype), [c.value("x2").rank - 2]);
  return length(c, c.node("Sub", [rows, columns]), c.number("p"), [c.out.rank], false);
};

/** Normalization and distances. */
export const kNorms: Writers = {
  layerNorm,
  rmsNorm,
  batchNorm,
  groupNorm,
  instanceNorm,
  normalize,
  cosineSimilarity,
  pairwiseDistance,
  cdist,
};

/** Functions that are composed of ops here and single nodes in ONNX. */
export const kNormComposites: Writers = {
  localResponseNorm: (c) =>
    c.value("input").rank === 4 && c.number("size") % 2 === 1
      ? c.node("LRN", [c.in("input")], {
          size: c.number("size"),
          alpha: { float: c.number("alpha") },
          beta: { float: c.number("beta") },
          bias: { float: c.number("k") },
        })
      : noForm(""),
};
