// Views and parts of tensors.

import { type Call, kEnd, type Writer, type Writers } from "../call.js";
import { kViewUpdate } from "../trace.js";
import { type Size, sizeFrom } from "../values.js";
import { kOrders } from "./orders.js";
import { viewUpdate } from "./view_updates.js";

// Any op whose result has the elements of the input in the same order.
const reshape: Writer = (c) =>
  c.exporter.reshape(c.in("input", c.out.dtype), c.value("input").sizes(), c.out.sizes());

const flatten: Writer = (c) => {
  const { rank } = c.value("input");
  const [start, end] = [c.dim("startDim", rank), c.dim("endDim", rank)];
  // Flatten always returns a matrix.
  const isMatrix = rank > 1 && start <= 1 && end === rank - 1 && c.out.rank === 2;
  return isMatrix && start === 1 ? c.node("Flatten", [c.in("input")], { axis: 1 }) : reshape(c);
};

function permuted(order: (c: Call, rank: number) => number[]): Writer {
  return (c) => c.transpose(c.in("input"), order(c, c.value("input").rank));
}

const squeeze: Writer = (c) => {
  const { rank, shape } = c.value("input");
  const dims = c.dims("dim", rank).filter((dim) => shape[dim] === 1);
  return dims.length === 0 ? c.node("Identity", [c.in("input")]) : c.squeeze(c.in("input"), dims);
};

const unsqueeze: Writer = (c) => c.unsqueeze(c.in("input"), [c.dim("dim", c.out.rank)]);

const expand: Writer = (c) => c.node("Expand", [c.in("input"), c.exporter.shape(c.out.sizes())]);

// As here, negative bounds of a slice in ONNX count from the end.
const slice: Writer = (c) => {
  const bound = (name: string, other: number) =>
    c.isLeftOut(name) ? other : (c.arg(name) as Size);
  return c.slice(
    c.in("input"),
    c.dim("dim"),
    bound("start", 0),
    bound("end", kEnd),
    c.number("step"),
  );
};

const narrow: Writer = (c) => {
  const [start, length] = [c.arg("start") as Size, c.arg("length") as Size];
  const size = c.value("input").size(c.dim("dim"));
  const from = sizeFrom((index, all) => (index < 0 ? index + all : index), start, size);
  return c.slice(
    c.in("input"),
    c.dim("dim"),
    from,
    sizeFrom((a, b) => a + b, from, length),
  );
};

const select: Writer = (c) => {
  const axis = c.dim("dim");
  const index = c.exporter.size(c.arg("index") as Size);
  return c.squeeze(c.node("Gather", [c.in("input"), index], { axis }), [axis]);
};

// Any op that splits a tensor along a dimension; the sizes are those of the results.
const split: Writer = (c) => {
  const axis = c.dim("dim");
  const sizes = c.exporter.shape(c.step.outputs.map((output) => output.size(axis)));
  return c.graph.outputs("Split", [c.in("input"), sizes], { axis }, c.step.outputs.length);
};

const unbind: Writer = (c) => {
  const axis = c.dim("dim");
  const count = c.step.outputs.length;
  const ones = c.list(new Array(count).fill(1));
  return c.graph
    .outputs("Split", [c.in("input"), ones], { axis }, count)
    .map((output) => c.squeeze(output, [axis]));
};

/** Views and parts of tensors. */
export const kShapes: Writers = {
  view: reshape,
  reshape,
  viewAs: reshape,
  flatten,
  unflatten: reshape,
  squeeze,
  unsqueeze,
  ...Object.fromEntries(Object.entries(kOrders).map(([name, order]) => [name, permuted(order)])),
  expand,
  expandAs: expand,
  broadcastTo: expand,
  slice,
  narrow,
  select,
  splitWithSizes: split,
  split,
  chunk: split,
  unbind,
  [kViewUpdate]: viewUpdate,
};
