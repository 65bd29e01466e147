// Views, joins and other ops that only move elements.

import { Call, kEnd, lifted, type Writer, type Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { type Size, type Step, sizeFrom, type Value } from "../values.js";

// Any op whose result has the elements of the input in the same order.
const reshape: Writer = (c) =>
  c.exporter.reshape(c.in("input", c.out.dtype), c.value("input").sizes(), c.out.sizes());

const flatten: Writer = (c) => {
  const { rank } = c.value("input");
  const [start, end] = [c.dim("startDim", rank), c.dim("endDim", rank)];
  // Flatten makes matrices.
  const isMatrix = rank > 1 && start <= 1 && end === rank - 1 && c.out.rank === 2;
  return isMatrix && start === 1 ? c.node("Flatten", [c.in("input")], { axis: 1 }) : reshape(c);
};

function permuted(order: (c: Call, rank: number) => number[]): Writer {
  return (c) => c.transpose(identity(c), order(c, c.value("input").rank));
}

// A transposition that changes nothing still is a tensor of its own.
function identity(c: Call): Name {
  return c.in("input");
}

function swapped(rank: number, a: number, b: number): number[] {
  const order = Array.from({ length: rank }, (_, i) => i);
  [order[a], order[b]] = [order[b] ?? a, order[a] ?? b];
  return order;
}

function moved(c: Call, rank: number): number[] {
  const [from, to] = [c.dims("source", rank), c.dims("destination", rank)];
  const order: number[] = new Array(rank).fill(-1);
  for (const [i, one] of from.entries()) order[to[i] as number] = one;
  const rest = Array.from({ length: rank }, (_, i) => i).filter((one) => !from.includes(one));
  return order.map((one) => (one < 0 ? (rest.shift() as number) : one));
}

const squeeze: Writer = (c) => {
  const { rank, shape } = c.value("input");
  const dims = c.dims("dim", rank).filter((one) => shape[one] === 1);
  return dims.length === 0 ? c.node("Identity", [c.in("input")]) : c.squeeze(c.in("input"), dims);
};

const unsqueeze: Writer = (c) => c.unsqueeze(c.in("input"), [c.dim("dim", c.out.rank)]);

const expand: Writer = (c) => c.node("Expand", [c.in("input"), c.exporter.shape(c.out.sizes())]);

// A bound of a slice in ONNX counts from the end if it is negative, as here.
const slice: Writer = (c) => {
  const bound = (name: string, other: number) => (c.isLeftOut(name) ? other : (c.arg(name) as Size));
  return c.slice(c.in("input"), c.dim("dim"), bound("start", 0), bound("end", kEnd), c.number("step"));
};

const narrow: Writer = (c) => {
  const [start, length] = [c.arg("start") as Size, c.arg("length") as Size];
  const size = c.value("input").size(c.dim("dim"));
  const from = sizeFrom((one, all) => (one < 0 ? one + all : one), start, size);
  return c.slice(c.in("input"), c.dim("dim"), from, sizeFrom((a, b) => a + b, from, length));
};

const select: Writer = (c) => {
  const axis = c.dim("dim");
  const index = c.exporter.size(c.arg("index") as Size);
  return c.squeeze(c.node("Gather", [c.in("input"), index], { axis }), [axis]);
};

// All ops that split a tensor along a dimension, whose sizes are those of the results.
const split: Writer = (c) => {
  const axis = c.dim("dim");
  const sizes = c.exporter.shape(c.step.outputs.map((one) => one.size(axis)));
  return c.graph.outputs("Split", [c.in("input"), sizes], { axis }, c.step.outputs.length);
};

const unbind: Writer = (c) => {
  const axis = c.dim("dim");
  const count = c.step.outputs.length;
  const ones = c.list(new Array(count).fill(1));
  return c.graph
    .outputs("Split", [c.in("input"), ones], { axis }, count)
    .map((one) => c.squeeze(one, [axis]));
};

/** Returns the tensors of an argument, in the type of the result. */
function tensorsOf(c: Call): { names: Name[]; values: Value[] } {
  const values = c.arg("tensors") as Value[];
  return { values, names: values.map((one) => c.as(one, c.out.dtype)) };
}

const cat: Writer = (c) => {
  const { names, values } = tensorsOf(c);
  // As in PyTorch, an empty vector fits to everything.
  const kept = names.filter((_, i) => String(values[i]?.shape) !== "0");
  return c.node("Concat", kept, { axis: c.dim("dim", c.out.rank) });
};

const stack: Writer = (c) => {
  const axis = c.dim("dim", c.out.rank);
  return c.node("Concat", tensorsOf(c).names.map((one) => c.unsqueeze(one, [axis])), { axis });
};

function stacked(least: number, axisFor: (rank: number) => number): Writer {
  return (c) => {
    const { names, values } = tensorsOf(c);
    const grown = names.map((name, i) => {
      const rank = values[i]?.rank ?? 0;
      const missing = Array.from({ length: Math.max(0, least - rank) }, (_, k) => k);
      return c.unsqueeze(name, missing);
    });
    return c.node("Concat", grown, { axis: axisFor(c.out.rank) });
  };
}

const repeat: Writer = (c) => {
  const { rank } = c.value("input");
  return tiled(c, rank, c.sizes("repeats"));
};

const tile: Writer = (c) => tiled(c, c.value("input").rank, c.sizes("dims", 1));

function tiled(c: Call, rank: number, given: readonly Size[]): Name {
  const missing = Array.from({ length: Math.max(0, given.length - rank) }, (_, i) => i);
  const repeats = [...new Array(Math.max(0, rank - given.length)).fill(1), ...given];
  return c.node("Tile", [c.unsqueeze(c.in("input"), missing), c.exporter.shape(repeats)]);
}

const flip: Writer = (c) => {
  const dims = c.dims("dims");
  const to = (one: number) => c.list(dims.map(() => one));
  return c.node("Slice", [c.in("input"), to(-1), to(-kEnd), c.list(dims), to(-1)]);
};

const roll: Writer = (c) => {
  const input = c.value("input");
  const shifts = c.ints("shifts");
  const isFlat = c.isLeftOut("dims");
  const dims = isFlat ? [0] : c.dims("dims");
  let name = isFlat ? c.node("Reshape", [c.in("input"), c.list([-1])]) : c.in("input");
  for (const [i, dim] of dims.entries()) {
    const shift = shifts[i] ?? 0;
    if (shift === 0) continue;
    const parts = [c.slice(name, dim, -shift, kEnd), c.slice(name, dim, 0, -shift)];
    name = c.node("Concat", parts, { axis: dim });
  }
  return isFlat ? c.exporter.reshape(name, [], input.sizes()) : c.node("Identity", [name]);
};

function triangle(upper: number): Writer {
  return (c) =>
    c.out.dtype === "bool"
      ? c.graph.cast(
          c.node("Trilu", [c.in("input", "int32"), diagonalOf(c)], { upper }),
          "bool",
        )
      : c.node("Trilu", [c.in("input"), diagonalOf(c)], { upper });
}

function diagonalOf(c: Call): Name {
  return c.node("Squeeze", [c.exporter.size(c.arg("diagonal") as Size)]);
}

const kPadModes: Readonly<Record<string, string>> = {
  constant: "constant",
  reflect: "reflect",
  replicate: "edge",
};

const pad: Writer = (c) => {
  const { rank } = c.value("input");
  const pads = c.sizes("pad");
  const begins: Size[] = new Array(rank).fill(0);
  const ends: Size[] = new Array(rank).fill(0);
  for (let i = 0; i * 2 < pads.length; i++) {
    begins[rank - 1 - i] = pads[2 * i] ?? 0;
    ends[rank - 1 - i] = pads[2 * i + 1] ?? 0;
  }
  const mode = c.arg("mode") as string;
  if (mode === "circular") return wrapped(c, begins, ends);
  const value = mode === "constant" && !c.isLeftOut("value") ? c.scalar(c.number("value")) : null;
  const isBool = c.out.dtype === "bool";
  const input = isBool ? c.in("input", "uint8") : c.in("input");
  const fill = isBool && value !== null ? c.graph.cast(value, "uint8") : value;
  const padded = c.node("Pad", [input, c.exporter.shape([...begins, ...ends]), fill], {
    mode: kPadModes[mode] ?? noForm(`padding by ${mode}`),
  });
  return isBool ? c.graph.cast(padded, "bool") : padded;
};

// Versions before 19 cannot wrap: the ends are copied one dimension after the other.
function wrapped(c: Call, begins: readonly Size[], ends: readonly Size[]): Name {
  let name = c.in("input");
  for (const [dim, begin] of begins.entries()) {
    const end = ends[dim] ?? 0;
    if (begin === 0 && end === 0) continue;
    const [before, after] = [c.known("pad", begin), c.known("pad", end)];
    if (before < 0 || after < 0) noForm("circular padding that removes elements");
    const parts = [name];
    if (before > 0) parts.unshift(c.slice(name, dim, -before, kEnd));
    if (after > 0) parts.push(c.slice(name, dim, 0, after));
    name = c.node("Concat", parts, { axis: dim });
  }
  return name;
}

// Picks the elements of a diagonal by their positions in the flattened matrix.
const diagonal: Writer = (c) => {
  const { rank, shape } = c.value("input");
  const [a, b] = [c.dim("dim1", rank), c.dim("dim2", rank)];
  return onDiagonal(c, a, b, c.number("offset"), shape);
};

function onDiagonal(c: Call, a: number, b: number, offset: number, shape: readonly number[]): Name {
  const input = c.value("input");
  const rest = Array.from(shape, (_, i) => i).filter((one) => one !== a && one !== b);
  const rows = c.known("the size of a diagonal", input.size(a));
  const columns = c.known("the size of a diagonal", input.size(b));
  const count = Math.max(0, Math.min(rows + Math.min(offset, 0), columns - Math.max(offset, 0)));
  const start = offset >= 0 ? offset : -offset * columns;
  const turned = c.transpose(c.in("input"), [...rest, a, b]);
  const outer = rest.map((one) => input.size(one));
  const flat = c.exporter.reshape(turned, [...outer, rows, columns], [...outer, rows * columns]);
  const places = c.list(Array.from({ length: count }, (_, i) => start + i * (columns + 1)));
  return c.node("Gather", [flat, places], { axis: rest.length });
}

const diag: Writer = (c) => {
  const { rank, shape } = c.value("input");
  if (rank === 2) return onDiagonal(c, 0, 1, c.number("diagonal"), shape);
  const offset = c.number("diagonal");
  const size = c.known("the size of a diagonal", c.value("input").size(0));
  const whole = size + Math.abs(offset);
  const row = c.unsqueeze(c.in("input"), [offset >= 0 ? 1 : 0]);
  const square = c.node("Expand", [row, c.list([size, size])]);
  const identity = c.graph.constant(
    Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0)),
    "bool",
  );
  const mask = c.node("Reshape", [identity, c.list([size, size])]);
  const placed = c.node("Where", [mask, square, c.scalar(0)]);
  const before = offset >= 0 ? [0, offset] : [-offset, 0];
  const after = [whole - size - (before[0] ?? 0), whole - size - (before[1] ?? 0)];
  return c.node("Pad", [placed, c.list([...before, ...after])]);
};

const trace: Writer = (c) => {
  const { shape } = c.value("input");
  const elements = onDiagonal(c, 0, 1, 0, shape);
  return c.reduce("ReduceSum", c.graph.cast(elements, c.out.dtype), [0], false);
};

const rot90: Writer = (c) => {
  const [a = 0, b = 1] = c.dims("dims");
  const turns = ((c.number("k") % 4) + 4) % 4;
  const { rank } = c.value("input");
  const flipped = (name: Name, dims: readonly number[]) => {
    const to = (one: number) => c.list(dims.map(() => one));
    return c.node("Slice", [name, to(-1), to(-kEnd), c.list(dims), to(-1)]);
  };
  if (turns === 0) return c.node("Identity", [c.in("input")]);
  if (turns === 2) return flipped(c.in("input"), [a, b]);
  return flipped(c.transpose(c.in("input"), swapped(rank, a, b)), [turns === 1 ? a : b]);
};

// Where a matrix has its diagonal, the value.
const fillDiagonal: Writer = (c) => {
  if (c.value("input").rank !== 2 || c.is("wrap")) noForm("other tensors than matrices, or wrap: true");
  const zeros = c.node("Expand", [c.scalar(0, "int32"), c.exporter.shape(c.out.sizes())]);
  const mask = c.graph.cast(c.node("EyeLike", [zeros]), "bool");
  return c.node("Where", [mask, c.operand("fillValue", c.out.dtype), c.in("input")]);
};

const meshgrid: Writer = (c) => {
  const values = c.arg("tensors") as Value[];
  const isSwapped = c.is("indexing", "xy") && values.length >= 2;
  const shape = c.exporter.shape(c.out.sizes());
  return values.map((value, i) => {
    const place = isSwapped && i < 2 ? 1 - i : i;
    const missing = Array.from(c.out.shape, (_, k) => k).filter((k) => k !== place);
    const vector = value.rank === 0 ? c.unsqueeze(c.as(value), [0]) : c.as(value);
    return c.node("Expand", [c.unsqueeze(vector, missing), shape]);
  });
};

// Windows along a dimension, as a new last dimension.
const unfold: Writer = (c) => {
  const axis = c.dim("dimension");
  const [size, step] = [c.number("size"), c.number("step")];
  const count = c.known("the number of windows", c.out.size(axis));
  const places = Array.from({ length: count * size }, (_, i) => Math.floor(i / size) * step + (i % size));
  const indices = c.node("Reshape", [c.list(places), c.list([count, size])]);
  const gathered = c.node("Gather", [c.in("input"), indices], { axis });
  const { rank } = c.value("input");
  const order = Array.from({ length: rank + 1 }, (_, i) => i).filter((one) => one !== axis + 1);
  return c.transpose(gathered, [...order, axis + 1]);
};

const repeatInterleave: Writer = (c) => {
  const input = c.value("input");
  const times = c.number("repeats");
  const isFlat = c.isLeftOut("dim");
  const name = isFlat ? c.node("Reshape", [c.in("input"), c.list([-1])]) : c.in("input");
  const axis = isFlat ? 0 : c.dim("dim");
  const ones = new Array(isFlat ? 1 : input.rank).fill(1);
  const repeats = c.list([...ones.slice(0, axis + 1), times, ...ones.slice(axis + 1)]);
  const tiledName = c.node("Tile", [c.unsqueeze(name, [axis + 1]), repeats]);
  if (isFlat) return c.node("Reshape", [tiledName, c.list([-1])]);
  return c.exporter.reshape(tiledName, [], c.out.sizes());
};

// Writes a changed view back into what it is a view of.
const viewUpdate: Writer = (c) => {
  const [base, value] = [c.value("base"), c.value("value")];
  const view = c.arg("view") as Step;
  const given = new Call(c.exporter, { ...view, values: { ...view.values, input: base } });
  const update = kUpdates[view.op];
  if (update === undefined) noForm(`a change in place of a view made by ${view.op}`);
  return update(given, c.as(value, base.dtype), c.number("index"));
};

type Update = (view: Call, value: Name, index: number) => Name;

const alike: Update = (view, value) =>
  view.exporter.reshape(value, view.out.sizes(), view.value("input").sizes());

// Everything before, the changed part and everything after.
function between(view: Call, value: Name, start: Size, end: Size): Name {
  const axis = view.dim("dim");
  const parts = [view.slice(view.in("input"), axis, 0, start), value, view.slice(view.in("input"), axis, end, kEnd)];
  return view.node("Concat", parts, { axis });
}

const updateSlice: Update = (view, value) => {
  const size = view.value("input").size(view.dim("dim"));
  if (view.number("step") !== 1) noForm("a change in place of every n-th element");
  const bound = (name: string, other: Size) => {
    const given = view.isLeftOut(name) ? other : (view.arg(name) as Size);
    return sizeFrom((one, all) => Math.min(one < 0 ? Math.max(0, one + all) : one, all), given, size);
  };
  const start = bound("start", 0);
  return between(view, value, start, sizeFrom(Math.max, start, bound("end", size)));
};

const updateNarrow: Update = (view, value) => {
  const size = view.value("input").size(view.dim("dim"));
  const start = sizeFrom((one, all) => (one < 0 ? one + all : one), view.arg("start") as Size, size);
  return between(view, value, start, sizeFrom((a, b) => a + b, start, view.arg("length") as Size));
};

const updateSelect: Update = (view, value) => {
  const axis = view.dim("dim");
  const index = sizeFrom(
    (one, all) => (one < 0 ? one + all : one),
    view.arg("index") as Size,
    view.value("input").size(axis),
  );
  return between(view, view.unsqueeze(value, [axis]), index, sizeFrom((one) => one + 1, index));
};

const updatePermuted =
  (order: (view: Call, rank: number) => number[]): Update =>
  (view, value) => {
    const perm = order(view, view.value("input").rank);
    return view.transpose(value, perm.map((_, i) => perm.indexOf(i)));
  };

const kOrders = {
  transpose: (c: Call, rank: number) => swapped(rank, c.dim("dim0"), c.dim("dim1")),
  swapaxes: (c: Call, rank: number) => swapped(rank, c.dim("axis0"), c.dim("axis1")),
  t: (_: Call, rank: number) => (rank === 2 ? [1, 0] : swapped(rank, 0, 0)),
  permute: (c: Call, rank: number) => c.dims("dims", rank),
  movedim: moved,
};

const kUpdates: Readonly<Record<string, Update>> = {
  alias: alike,
  detach: alike,
  contiguous: alike,
  view: alike,
  reshape: alike,
  viewAs: alike,
  flatten: alike,
  unflatten: alike,
  squeeze: alike,
  unsqueeze: alike,
  slice: updateSlice,
  narrow: updateNarrow,
  select: updateSelect,
  ...Object.fromEntries(Object.entries(kOrders).map(([name, order]) => [name, updatePermuted(order)])),
};

/** Views, joins and other ops that only move elements. */
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
  cat,
  stack,
  hstack: stacked(1, (rank) => (rank === 1 ? 0 : 1)),
  vstack: stacked(2, () => 0),
  repeat,
  tile,
  flip,
  roll,
  rot90,
  tril: triangle(0),
  triu: triangle(1),
  pad,
  diagonal,
  diag,
  fillDiagonal_: fillDiagonal,
  trace,
  meshgrid,
  unfold: lifted(unfold),
  repeatInterleave,
  viewUpdate,
};
