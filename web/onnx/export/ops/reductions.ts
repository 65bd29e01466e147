// Sums, means and other reductions, cumulative ones too, and sorting.

import { type Call, lifted, type Writer, type Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { orderedType } from "./comparisons.js";
import { isFloat } from "./elementwise.js";

function dimsOf(c: Call): number[] {
  const { rank } = c.value("input");
  const dims = rank === 0 ? [] : c.dims("dim", rank);
  return dims.length === 0 ? Array.from({ length: rank }, (_, i) => i) : dims;
}

function reduced(type: string): Writer {
  return (c) => c.reduce(type, c.in("input", c.out.dtype), dimsOf(c), c.is("keepdim"));
}

/** Returns a mean; integers are not allowed. */
function mean(c: Call, name: Name, dims: readonly number[], keep: boolean): Name {
  return c.reduce("ReduceMean", name, dims, keep);
}

const ofTruth =
  (type: "ReduceMax" | "ReduceMin"): Writer =>
  (c) => {
    const truth = c.graph.cast(c.in("input", "bool"), "int32");
    return c.graph.cast(c.reduce(type, truth, dimsOf(c), c.is("keepdim")), "bool");
  };

// max() of all elements, along a dimension (values and positions), or of two tensors.
function extreme(largest: boolean): Writer {
  const [reduce, find, of2] = largest
    ? ["ReduceMax", "ArgMax", "Max"]
    : ["ReduceMin", "ArgMin", "Min"];
  return (c) => {
    const input = c.value("input");
    if (c.isLeftOut("dim")) return c.reduce(reduce as string, c.in("input"), dimsOf(c), false);
    if (typeof c.arg("dim") === "object" && !Array.isArray(c.arg("dim"))) {
      const dtype = c.out.dtype;
      return c.node(of2 as string, [c.operand("input", dtype), c.operand("dim", dtype)]);
    }
    const axis = c.dim("dim", input.rank);
    const keepdims = c.is("keepdim") ? 1 : 0;
    const values = c.reduce(
      reduce as string,
      c.in("input"),
      input.rank === 0 ? [] : [axis],
      c.is("keepdim"),
    );
    return [values, c.node(find as string, [c.in("input")], { axis, keepdims })];
  };
}

function place(type: "ArgMax" | "ArgMin"): Writer {
  return (c) => {
    const { rank } = c.value("input");
    const keepdims = c.is("keepdim") ? 1 : 0;
    if (!c.isLeftOut("dim")) {
      return c.node(type, [numeric(c)], { axis: c.dim("dim", rank), keepdims });
    }
    const flat = c.node("Reshape", [numeric(c), c.list([-1])]);
    const found = c.node(type, [flat], { axis: 0, keepdims: 0 });
    return c.exporter.reshape(found, [], c.out.sizes());
  };
}

function numeric(c: Call): Name {
  return c.in("input", c.value("input").dtype === "bool" ? "int32" : c.value("input").dtype);
}

// The sum of the squared distances from the mean, divided by the number of elements less the correction.
function variance(c: Call, dims: readonly number[], keep: boolean): Name {
  const dtype = c.out.dtype;
  const input = c.in("input", dtype);
  const distance = c.node("Sub", [input, mean(c, input, dims, true)]);
  const sum = c.reduce("ReduceSum", c.node("Mul", [distance, distance]), dims, keep);
  return c.node("Div", [sum, countLess(c, dims)]);
}

// The number of reduced elements, less the correction.
function countLess(c: Call, dims: readonly number[]): Name {
  const unbiased = c.arg("unbiased");
  const correction = typeof unbiased === "boolean" ? Number(unbiased) : c.number("correction");
  const dtype = c.out.dtype;
  const sizes = dims.map((dim) => c.value("input").size(dim));
  const count = c.reduce(
    "ReduceProd",
    c.exporter.shape(sizes.length === 0 ? [1] : sizes),
    [0],
    false,
  );
  const less = c.node("Sub", [c.graph.cast(count, dtype), c.scalar(correction, dtype)]);
  return c.node("Max", [less, c.scalar(0, dtype)]);
}

const withMean =
  (root: boolean): Writer =>
  (c) => {
    const dims = dimsOf(c);
    const keep = c.is("keepdim");
    const spread = variance(c, dims, keep);
    return [
      root ? c.node("Sqrt", [spread]) : spread,
      mean(c, c.in("input", c.out.dtype), dims, keep),
    ];
  };

const norm: Writer = (c) => {
  const p = c.number("p");
  const [dims, keep] = [dimsOf(c), c.is("keepdim")];
  const x = c.in("input", c.out.dtype);
  if (p === 2) return c.reduce("ReduceL2", x, dims, keep);
  if (p === 1) return c.reduce("ReduceL1", x, dims, keep);
  const size = c.node("Abs", [x]);
  if (p === Infinity) return c.reduce("ReduceMax", size, dims, keep);
  if (p === -Infinity) return c.reduce("ReduceMin", size, dims, keep);
  if (p === 0) {
    const isThere = c.graph.cast(c.graph.cast(x, "bool"), c.out.dtype);
    return c.reduce("ReduceSum", isThere, dims, keep);
  }
  const sum = c.reduce("ReduceSum", c.node("Pow", [size, c.scalar(p)]), dims, keep);
  return c.node("Pow", [sum, c.scalar(1 / p)]);
};

function withoutNaN(c: Call): Name {
  const x = c.in("input", c.out.dtype);
  return isFloat(c.out.dtype) ? c.node("Where", [c.node("IsNaN", [x]), c.scalar(0), x]) : x;
}

const nanmean: Writer = (c) => {
  const [dims, keep] = [dimsOf(c), c.is("keepdim")];
  const isNumber = c.node("Not", [c.node("IsNaN", [c.in("input", c.out.dtype)])]);
  const count = c.reduce("ReduceSum", c.graph.cast(isNumber, c.out.dtype), dims, keep);
  return c.node("Div", [c.reduce("ReduceSum", withoutNaN(c), dims, keep), count]);
};

const countNonzero: Writer = (c) =>
  c.reduce("ReduceSum", c.graph.cast(c.in("input", "bool"), "int64"), dimsOf(c), false);

const aminmax: Writer = (c) => {
  const [dims, keep] = [dimsOf(c), c.is("keepdim")];
  return ["ReduceMin", "ReduceMax"].map((type) => c.reduce(type, c.in("input"), dims, keep));
};

const cumsum: Writer = (c) =>
  c.node("CumSum", [c.in("input", c.out.dtype), c.graph.constant(c.dim("dim"), "int64")]);

// Subtracts the largest element, so that no power overflows.
const logcumsumexp: Writer = (c) => {
  const axis = c.dim("dim");
  const x = c.in("input");
  const largest = c.reduce("ReduceMax", x, [axis], true);
  const powers = c.node("Exp", [c.node("Sub", [x, largest])]);
  const sums = c.node("CumSum", [powers, c.graph.constant(axis, "int64")]);
  return c.node("Add", [c.node("Log", [sums]), largest]);
};

const diff: Writer = (c) => {
  const axis = c.dim("dim");
  const more = ["prepend", "append"].map((name) => (c.isLeftOut(name) ? null : c.in(name)));
  const [before, after] = more as [Name | null, Name | null];
  const parts = [before, c.in("input"), after].filter((part): part is Name => part !== null);
  let result = parts.length === 1 ? (parts[0] as Name) : c.node("Concat", parts, { axis });
  for (let i = 0; i < c.number("n"); i++) {
    const [later, sooner] = [c.slice(result, axis, 1, 2 ** 53 - 1), c.slice(result, axis, 0, -1)];
    result =
      c.out.dtype === "bool" ? c.node("Xor", [later, sooner]) : c.node("Sub", [later, sooner]);
  }
  return result;
};

// The largest or smallest elements and their positions.
function topElements(c: Call, count: Name, axis: number, largest: boolean): Name[] {
  const attributes = { axis, largest: largest ? 1 : 0, sorted: 1 };
  return c.graph.outputs("TopK", [c.in("input"), count], attributes, 2);
}

const topk: Writer = (c) => {
  const count = c.exporter.size(c.arg("k") as number);
  return topElements(c, count, c.dim("dim"), c.is("largest"));
};

const sort: Writer = (c) => {
  const axis = c.dim("dim");
  const count = c.exporter.size(c.value("input").size(axis));
  return topElements(c, count, axis, c.is("descending"));
};

const argsort: Writer = (c) => (sort(c) as Name[])[1] as Name;

const msort: Writer = (c) =>
  topElements(c, c.exporter.size(c.value("input").size(0)), 0, false)[0] as Name;

const kthvalue: Writer = (c) => nth(c, c.dim("dim"), c.number("k"));

// The k-th smallest element along a dimension, and its position.
function nth(c: Call, axis: number, k: number): Name[] {
  const count = c.list([k]);
  return topElements(c, count, axis, false).map((name) => {
    const last = c.node("Gather", [name, c.list([-1])], { axis });
    return c.is("keepdim") ? last : c.squeeze(last, [axis]);
  });
}

const median: Writer = (c) => {
  const input = c.value("input");
  if (c.isLeftOut("dim")) {
    const size = input.shape.reduce((a, b) => a * b, 1);
    const k = c.list([Math.floor((size + 1) / 2)]);
    if (input.sizes().some((size) => typeof size !== "number"))
      noForm("the median of a dynamic axis");
    const flat = c.node("Reshape", [c.in("input"), c.list([-1])]);
    const attributes = { axis: 0, largest: 0, sorted: 1 };
    const [smallest] = c.graph.outputs("TopK", [flat, k], attributes, 2) as [Name];
    return c.squeeze(c.node("Gather", [smallest, c.list([-1])], { axis: 0 }), [0]);
  }
  const axis = c.dim("dim", input.rank);
  const size = c.fixedNumber("the size of the dimension", input.size(axis));
  return nth(c, axis, Math.floor((size + 1) / 2));
};

// The number of boundaries below each element.
const searchsorted: Writer = (c) => {
  if (!c.isLeftOut("sorter") || c.value("sortedSequence").rank !== 1)
    noForm("more than one sequence");
  return bordersBelow(c, "sortedSequence");
};

function bordersBelow(c: Call, borders: string): Name {
  const dtype = orderedType(c, "input", borders);
  const input = c.operand("input", dtype);
  const rank = c.out.rank;
  const isRight = c.is("right") || c.is("side", "right");
  const column = c.unsqueeze(input, [rank]);
  const isBelow = c.node(isRight ? "LessOrEqual" : "Less", [c.in(borders, dtype), column]);
  return c.reduce("ReduceSum", c.graph.cast(isBelow, c.out.dtype), [rank], false);
}

/** Sums, means and other reductions, cumulative ones too, and sorting. */
export const kReductions: Writers = {
  sum: reduced("ReduceSum"),
  mean: reduced("ReduceMean"),
  prod: reduced("ReduceProd"),
  any: ofTruth("ReduceMax"),
  all: ofTruth("ReduceMin"),
  amax: reduced("ReduceMax"),
  amin: reduced("ReduceMin"),
  max: lifted(extreme(true)),
  min: lifted(extreme(false)),
  argmax: lifted(place("ArgMax")),
  argmin: lifted(place("ArgMin")),
  var: (c) => variance(c, dimsOf(c), c.is("keepdim")),
  std: (c) => c.node("Sqrt", [variance(c, dimsOf(c), c.is("keepdim"))]),
  varMean: withMean(false),
  stdMean: withMean(true),
  norm,
  logsumexp: reduced("ReduceLogSumExp"),
  nansum: (c) => c.reduce("ReduceSum", withoutNaN(c), dimsOf(c), c.is("keepdim")),
  nanmean,
  countNonzero,
  aminmax,
  cumsum: lifted(cumsum),
  diff,
  topk: lifted(topk),
  sort: lifted(sort),
  argsort: lifted(argsort),
  msort: lifted(msort),
  kthvalue: lifted(kthvalue),
  median: lifted(median),
  logcumsumexp: lifted(logcumsumexp),
  searchsorted,
  bucketize: (c) => bordersBelow(c, "boundaries"),
};
