// Concatenation, repetition, flipping, rolling and padding.

import { type Call, kEnd, lifted, type Writer, type Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import type { Size, Value } from "../values.js";
import { swapped } from "./orders.js";

/** Returns the tensors of an argument, in the type of the result. */
function tensorsOf(c: Call): { names: Name[]; values: Value[] } {
  const values = c.arg("tensors") as Value[];
  return { values, names: values.map((value) => c.as(value, c.out.dtype)) };
}

const cat: Writer = (c) => {
  const { names, values } = tensorsOf(c);
  // As in PyTorch, an empty vector can be concatenated with any shape.
  const kept = names.filter((_, i) => String(values[i]?.shape) !== "0");
  return c.node("Concat", kept, { axis: c.dim("dim", c.out.rank) });
};

const stack: Writer = (c) => {
  const axis = c.dim("dim", c.out.rank);
  return c.node(
    "Concat",
    tensorsOf(c).names.map((name) => c.unsqueeze(name, [axis])),
    { axis },
  );
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
  return tileBy(c, rank, c.sizes("repeats"));
};

const tile: Writer = (c) => tileBy(c, c.value("input").rank, c.sizes("dims", 1));

function tileBy(c: Call, rank: number, given: readonly Size[]): Name {
  const missing = Array.from({ length: Math.max(0, given.length - rank) }, (_, i) => i);
  const repeats = [...new Array(Math.max(0, rank - given.length)).fill(1), ...given];
  return c.node("Tile", [c.unsqueeze(c.in("input"), missing), c.exporter.shape(repeats)]);
}

const flip: Writer = (c) => {
  const dims = c.dims("dims");
  const to = (number: number) => c.list(dims.map(() => number));
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
  if (mode === "circular") return wrap(c, begins, ends);
  const value = mode === "constant" && !c.isLeftOut("value") ? c.scalar(c.number("value")) : null;
  const isBool = c.out.dtype === "bool";
  const input = isBool ? c.in("input", "uint8") : c.in("input");
  const fill = isBool && value !== null ? c.graph.cast(value, "uint8") : value;
  const padded = c.node("Pad", [input, c.exporter.shape([...begins, ...ends]), fill], {
    mode: kPadModes[mode] ?? noForm(`padding by ${mode}`),
  });
  return isBool ? c.graph.cast(padded, "bool") : padded;
};

// Before version 19, Pad lacks the mode "wrap", so the ends are copied one dimension at a time.
function wrap(c: Call, begins: readonly Size[], ends: readonly Size[]): Name {
  let name = c.in("input");
  for (const [dim, begin] of begins.entries()) {
    const end = ends[dim] ?? 0;
    if (begin === 0 && end === 0) continue;
    const [before, after] = [c.fixedNumber("pad", begin), c.fixedNumber("pad", end)];
    if (before < 0 || after < 0) noForm("circular padding that removes elements");
    const parts = [name];
    if (before > 0) parts.unshift(c.slice(name, dim, -before, kEnd));
    if (after > 0) parts.push(c.slice(name, dim, 0, after));
    name = c.node("Concat", parts, { axis: dim });
  }
  return name;
}

const rot90: Writer = (c) => {
  const [a = 0, b = 1] = c.dims("dims");
  const turns = ((c.number("k") % 4) + 4) % 4;
  const { rank } = c.value("input");
  const flipped = (name: Name, dims: readonly number[]) => {
    const to = (number: number) => c.list(dims.map(() => number));
    return c.node("Slice", [name, to(-1), to(-kEnd), c.list(dims), to(-1)]);
  };
  if (turns === 0) return c.node("Identity", [c.in("input")]);
  if (turns === 2) return flipped(c.in("input"), [a, b]);
  return flipped(c.transpose(c.in("input"), swapped(rank, a, b)), [turns === 1 ? a : b]);
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
  const count = c.fixedNumber("the number of windows", c.out.size(axis));
  const places = Array.from(
    { length: count * size },
    (_, i) => Math.floor(i / size) * step + (i % size),
  );
  const indices = c.node("Reshape", [c.list(places), c.list([count, size])]);
  const gathered = c.node("Gather", [c.in("input"), indices], { axis });
  const { rank } = c.value("input");
  const order = Array.from({ length: rank + 1 }, (_, i) => i).filter((dim) => dim !== axis + 1);
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

/** Concatenation, repetition, flipping, rolling and padding. */
export const kJoins: Writers = {
  cat,
  stack,
  hstack: stacked(1, (rank) => (rank === 1 ? 0 : 1)),
  vstack: stacked(2, () => 0),
  repeat,
  tile,
  flip,
  roll,
  rot90,
  pad,
  meshgrid,
  unfold: lifted(unfold),
  repeatInterleave,
};
