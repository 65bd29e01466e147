// Products of matrices and attention.

import type { Call, Writer, Writers } from "../call.js";
import type { Name } from "../graph.js";
import type { Size, Value } from "../values.js";
import { isFloat } from "./elementwise.js";

function product(first: string, second: string): Writer {
  return (c) => c.node("MatMul", [c.in(first, c.out.dtype), c.in(second, c.out.dtype)]);
}

function scaleBy(c: Call, name: Name, by: number): Name {
  return by === 1 ? name : c.node("Mul", [name, c.scalar(by)]);
}

// beta * input + alpha * (the product of two others)
function addProduct(first: string, second: string, finish = (_: Call, name: Name) => name): Writer {
  return (c) => {
    const [a, b] = [c.in(first, c.out.dtype), c.in(second, c.out.dtype)];
    return plusInput(c, finish(c, c.node("MatMul", [a, b])));
  };
}

function plusInput(c: Call, name: Name): Name {
  const [alpha, beta] = [c.number("alpha"), c.number("beta")];
  const result = scaleBy(c, name, alpha);
  if (beta === 0) return result;
  return c.node("Add", [scaleBy(c, c.in("input", c.out.dtype), beta), result]);
}

const linear: Writer = (c) => {
  const [input, weight, bias] = [c.value("input"), c.value("weight"), c.optional("bias")];
  const dtype = c.out.dtype;
  if (input.rank === 2 && weight.rank === 2 && isFloat(dtype)) {
    const more = bias === null ? [] : [c.as(bias, dtype)];
    return c.node("Gemm", [c.in("input", dtype), c.in("weight", dtype), ...more], { transB: 1 });
  }
  const turned =
    weight.rank === 2 ? c.transpose(c.in("weight", dtype), [1, 0]) : c.in("weight", dtype);
  const result = c.node("MatMul", [c.in("input", dtype), turned]);
  return bias === null ? result : c.node("Add", [result, c.as(bias, dtype)]);
};

const addmm: Writer = (c) => {
  const dtype = c.out.dtype;
  const attributes = { alpha: { float: c.number("alpha") }, beta: { float: c.number("beta") } };
  return c.node(
    "Gemm",
    [c.in("mat1", dtype), c.in("mat2", dtype), c.in("input", dtype)],
    attributes,
  );
};

const outer: Writer = (c) =>
  c.node("Mul", [
    c.unsqueeze(c.in("input", c.out.dtype), [1]),
    c.unsqueeze(c.in("vec2", c.out.dtype), [0]),
  ]);

const addr: Writer = (c) =>
  plusInput(
    c,
    c.node("Mul", [
      c.unsqueeze(c.in("vec1", c.out.dtype), [1]),
      c.unsqueeze(c.in("vec2", c.out.dtype), [0]),
    ]),
  );

const bilinear: Writer = (c) => {
  const rank = c.value("input1").rank;
  // For each output: a row of input1 times a matrix, times input2.
  const left = c.unsqueeze(c.in("input1"), [rank - 1]);
  const rows = c.node("MatMul", [c.unsqueeze(left, [rank - 1]), c.in("weight")]);
  const products = c.node("Mul", [
    c.squeeze(rows, [rank]),
    c.unsqueeze(c.in("input2"), [rank - 1]),
  ]);
  const sum = c.reduce("ReduceSum", products, [rank], false);
  const bias = c.optional("bias");
  return bias === null ? sum : c.node("Add", [sum, c.as(bias)]);
};

const einsum: Writer = (c) => {
  const values = c.arg("operands") as Value[];
  const equation = String.fromCharCode(...(c.arg("equation") as number[]));
  return c.node(
    "Einsum",
    values.map((value) => c.as(value, c.out.dtype)),
    { equation },
  );
};

const cross: Writer = (c) => {
  const axis = c.dim("dim", c.out.rank);
  const [a, b] = [c.in("input", c.out.dtype), c.in("other", c.out.dtype)];
  const turned = (name: Name, order: readonly number[]) =>
    c.node("Gather", [name, c.list(order)], { axis });
  const first = c.node("Mul", [turned(a, [1, 2, 0]), turned(b, [2, 0, 1])]);
  return c.node("Sub", [first, c.node("Mul", [turned(a, [2, 0, 1]), turned(b, [1, 2, 0])])]);
};

const kron: Writer = (c) => {
  const [a, b] = [c.value("input"), c.value("other")];
  const rank = Math.max(a.rank, b.rank);
  const spread = (value: Value, offset: number) => {
    const missing = Array.from({ length: rank - value.rank }, (_, i) => i);
    const grown = c.unsqueeze(c.as(value, c.out.dtype), missing);
    return c.unsqueeze(
      grown,
      Array.from({ length: rank }, (_, i) => 2 * i + offset),
    );
  };
  return c.exporter.reshape(c.node("Mul", [spread(a, 1), spread(b, 0)]), [], c.out.sizes());
};

// Attention as products and a softmax, which every reader supports.
const attention: Writer = (c) => {
  const [query, key, value] = [c.value("query"), c.value("key"), c.value("value")];
  const dtype = c.out.dtype;
  const { rank } = query;
  const features = query.shape[rank - 1] ?? 1;
  const scale = c.isLeftOut("scale") ? 1 / Math.sqrt(features) : c.number("scale");
  const [keys, values] = [key, value].map((states) => repeatHeads(c, states, query));
  const order = key.shape.map((_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));
  const scaledQuery = scaleBy(c, c.as(query, dtype), scale);
  let scores = c.node("MatMul", [scaledQuery, c.transpose(keys as Name, order)]);
  const mask = maskOf(c, query.size(-2), key.size(-2));
  if (mask !== null) scores = c.node("Add", [scores, mask]);
  const weights = c.node("Softmax", [scores], { axis: -1 });
  return c.node("MatMul", [weights, values as Name]);
};

// Repeats the heads of keys and values that several query heads share.
function repeatHeads(c: Call, given: Value, query: Value): Name {
  const name = c.as(given, c.out.dtype);
  const { rank } = given;
  const [heads = 1, wanted = 1] = [given.shape[rank - 3], query.shape[rank - 3]];
  if (!c.is("enableGqa") || heads === wanted) return name;
  const ones = new Array(rank + 1).fill(1);
  ones[rank - 2] = wanted / heads;
  const repeated = c.node("Tile", [c.unsqueeze(name, [rank - 2]), c.list(ones)]);
  const sizes = given.sizes().map((size, i) => (i === rank - 3 ? wanted : size));
  return c.exporter.reshape(repeated, [], sizes);
}

// The mask that is added to the scores: minus infinity where a query must not see a key.
function maskOf(c: Call, queries: Size, keys: Size): Name | null {
  const dtype = c.out.dtype;
  const hidden = c.scalar(-Infinity, dtype);
  const parts: Name[] = [];
  const mask = c.optional("attnMask");
  if (mask?.dtype === "bool") {
    parts.push(c.node("Where", [c.as(mask), c.scalar(0, dtype), hidden]));
  } else if (mask !== null) parts.push(c.as(mask, dtype));
  if (c.is("isCausal")) {
    const all = c.node("Expand", [hidden, c.exporter.shape([queries, keys])]);
    parts.push(c.node("Trilu", [all, c.graph.constant(1, "int64")], { upper: 1 }));
  }
  const [first, second] = parts;
  if (first === undefined) return null;
  return second === undefined ? first : c.node("Add", [first, second]);
}

/** Products of matrices and attention. */
export const kMatrix: Writers = {
  mm: product("input", "mat2"),
  bmm: product("input", "mat2"),
  mv: product("input", "vec"),
  dot: product("input", "tensor"),
  matmul: product("input", "other"),
  addmm,
  addmv: addProduct("mat", "vec"),
  baddbmm: addProduct("batch1", "batch2"),
  addbmm: addProduct("batch1", "batch2", (c, name) => c.reduce("ReduceSum", name, [0], false)),
  addr,
  linear,
  bilinear,
  outer,
  einsum,
  cross,
  kron,
  det: (c) => c.node("Det", [c.in("input")]),
  scaledDotProductAttention: attention,
};
