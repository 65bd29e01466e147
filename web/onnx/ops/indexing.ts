// Gather, scatter and other indexing.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Host, isNumbers, isTexts } from "../values/host.js";
import { sizeOf, stridesOf } from "../values/host_math.js";
import { host, ints, number, tensor, type Value } from "../values/value.js";
import { axisOf, range } from "./axes.js";
import { flag, int, maybeInt, type Ops, op, string } from "./op.js";

/** Returns nonnegative positions; negative ones count from the end. */
function positions(indices: Value, size: number): eg.Tensor {
  if (isNumbers(indices)) {
    return tensor(
      new Host(
        "int64",
        indices.shape,
        indices.data.map((at) => (at < 0 ? at + size : at)),
      ),
    );
  }
  const given = tensor(indices).to("int64");
  return given.add(given.lt(0).to("int64").mul(size));
}

function gather(x: eg.Tensor, indices: Value, axis: number): eg.Tensor {
  const size = x.shape[axis] as number;
  if (isNumbers(indices) && indices.shape.length === 0) {
    const at = indices.data[0] as number;
    return eg.select(x, axis, at);
  }
  const places = positions(indices, size);
  if (axis === 0 && x.ndim === 2 && x.isFloatingPoint())
    return eg.nn.functional.embedding(places, x);
  const flat = eg.indexSelect(x, axis, places.reshape([-1]));
  return flat.reshape([...x.shape.slice(0, axis), ...places.shape, ...x.shape.slice(axis + 1)]);
}

// Labels are looked up in a table of strings.
function gatherTexts(x: Host<string>, { data, shape }: Host<number>, given: number): Host<string> {
  const axis = axisOf(given, x.shape.length);
  const size = x.shape[axis] as number;
  const wrong = data.find((at) => !(at >= -size && at < size));
  if (wrong !== undefined) {
    fail("IndexOutOfRange", "OnnxModule", `index ${wrong} is out of range for ${size} strings.`);
  }
  const inner = sizeOf(x.shape.slice(axis + 1));
  const found = range(sizeOf(x.shape.slice(0, axis))).flatMap((outer) =>
    data.flatMap((at) => {
      const start = (outer * size + (at < 0 ? at + size : at)) * inner;
      return x.data.slice(start, start + inner);
    }),
  );
  return new Host(
    "string",
    [...x.shape.slice(0, axis), ...shape, ...x.shape.slice(axis + 1)],
    found,
  );
}

// Flattens index tuples: the last axis of `indices` holds one position for each of the leading axes.
function flatPositions(sizes: readonly number[], indices: Value): eg.Tensor {
  const given = tensor(indices).to("int64");
  const strides = stridesOf(sizes);
  const parts = sizes.map((size, i) => {
    const part = eg.select(given, -1, i);
    return part.add(part.lt(0).to("int64").mul(size)).mul(strides[i] as number);
  });
  return parts.reduce((all, part) => all.add(part));
}

function gatherNd(x: eg.Tensor, indices: Value, batchDims: number): eg.Tensor {
  const given = tensor(indices);
  const depth = given.shape.at(-1) as number;
  const batch = x.shape.slice(0, batchDims);
  const sizes = x.shape.slice(batchDims, batchDims + depth);
  const rest = x.shape.slice(batchDims + depth);
  const inner = sizeOf(sizes);
  const flat = x.reshape([sizeOf(batch) * inner, ...rest]);
  let places = flatPositions(sizes, given).reshape([sizeOf(batch), -1]);
  if (batchDims > 0) {
    const firsts = eg.arange(sizeOf(batch), { dtype: "int64", device: x.device });
    places = places.add(firsts.mul(inner).reshape([-1, 1]));
  }
  return eg
    .indexSelect(flat, 0, places.reshape([-1]))
    .reshape([...given.shape.slice(0, -1), ...rest]);
}

const kReductions: Readonly<Record<string, "sum" | "prod" | "amax" | "amin">> = {
  add: "sum",
  mul: "prod",
  max: "amax",
  min: "amin",
};

function scatterNd(x: eg.Tensor, indices: Value, updates: eg.Tensor, reduction: string): eg.Tensor {
  const depth = tensor(indices).shape.at(-1) as number;
  const sizes = x.shape.slice(0, depth);
  const rest = sizeOf(x.shape.slice(depth));
  const places = flatPositions(sizes, indices).reshape([-1, 1]);
  const target = x.reshape([sizeOf(sizes), rest]);
  const index = places.expand([places.shape[0] as number, rest]);
  return scatter(target, 0, index, updates.reshape([-1, rest]), reduction).reshape(x.shape);
}

function scatter(
  x: eg.Tensor,
  dim: number,
  index: eg.Tensor,
  updates: eg.Tensor,
  reduction: string,
): eg.Tensor {
  const reduce = kReductions[reduction];
  if (reduce === undefined) return eg.scatter(x, dim, index, updates);
  return eg.scatterReduce(x, dim, index, updates, reduce);
}

const scatterElements = {
  attributes: { axis: int(0), reduction: string("none") },
  run: (
    [input, indices, updates]: readonly Value[],
    { axis, reduction }: { axis: number; reduction: string },
  ) => {
    const x = tensor(input);
    const dim = axisOf(axis, x.ndim);
    const places = positions(indices, x.shape[dim] as number);
    return scatter(x, dim, places, tensor(updates), reduction);
  },
};

// Unique values, sorted or in the order of their first occurrence.
function unique(x: eg.Tensor, axis: number | undefined, isSorted: boolean): Value[] {
  const flat =
    axis === undefined
      ? x.reshape([-1, 1])
      : eg.movedim(x, axis, 0).reshape([x.shape[axis] as number, -1]);
  const { data, shape } = host(flat);
  const [count = 0, width = 1] = shape;
  const rows = range(count).map((i) => data.slice(i * width, (i + 1) * width));
  const firsts = new Map<string, number>();
  rows.forEach((row, i) => {
    const key = row.join();
    if (!firsts.has(key)) firsts.set(key, i);
  });
  const order = [...firsts.values()];
  if (isSorted) order.sort((a, b) => compare(rows[a] as number[], rows[b] as number[]));
  const places = new Map(order.map((at, i) => [(rows[at] as number[]).join(), i]));
  const inverse = rows.map((row) => places.get(row.join()) as number);
  const counts = order.map((_, i) => inverse.filter((position) => position === i).length);
  const at = eg.tensor(BigInt64Array.from(order, BigInt), { device: x.device });
  const values =
    axis === undefined ? eg.indexSelect(x.reshape([-1]), 0, at) : eg.indexSelect(x, axis, at);
  const list = (numbers: readonly number[]) => tensor(new Host("int64", [numbers.length], numbers));
  return [values, list(order), list(inverse), list(counts)];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

export const kIndexing: Ops = {
  Gather: op({
    attributes: { axis: int(0) },
    run: ([input, indices], { axis }) => {
      if (isTexts(input)) return gatherTexts(input, host(indices), axis);
      const x = tensor(input);
      return gather(x, indices, axisOf(axis, x.ndim));
    },
    host: ([x, indices]) => {
      if (x?.shape.length !== 1 || indices === undefined) return undefined;
      const data = indices.data.map((at) => x.data[at < 0 ? at + x.data.length : at]);
      return data.includes(undefined)
        ? undefined
        : new Host(x.type, indices.shape, data as number[]);
    },
  }),
  GatherElements: op({
    since: 11,
    attributes: { axis: int(0) },
    run: ([input, indices], { axis }) => {
      const x = tensor(input);
      const dim = axisOf(axis, x.ndim);
      return eg.gather(x, dim, positions(indices, x.shape[dim] as number));
    },
  }),
  GatherND: op({
    since: 11,
    attributes: { batch_dims: int(0) },
    run: ([x, indices], { batch_dims }) => gatherNd(tensor(x), indices, batch_dims),
  }),
  Scatter: op({ since: 9, until: 10, ...scatterElements }),
  ScatterElements: op({ since: 11, ...scatterElements }),
  ScatterND: op({
    since: 11,
    attributes: { reduction: string("none") },
    run: ([x, indices, updates], { reduction }) =>
      scatterNd(tensor(x), indices, tensor(updates), reduction),
  }),
  TensorScatter: op({
    since: 24,
    attributes: { axis: int(-2), mode: string("linear") },
    run: ([past, update, at], { axis, mode }) => {
      const [x, fresh] = [tensor(past), tensor(update)];
      const dim = axisOf(axis, x.ndim);
      const [size, count] = [x.shape[dim] as number, fresh.shape[dim] as number];
      const starts = ints(at) ?? range(x.shape[0] as number).map(() => 0);
      const places = starts.map((start) =>
        range(count).map((i) => (mode === "circular" ? (start + i) % size : start + i)),
      );
      const sizes = fresh.shape.map((length, i) => (i === 0 || i === dim ? length : 1));
      const index = eg.tensor(places, { dtype: "int64", device: x.device }).reshape(sizes);
      return eg.scatter(x, dim, index.expand(fresh.shape), fresh);
    },
  }),
  Compress: op({
    since: 9,
    attributes: { axis: maybeInt },
    run: ([input, condition], { axis }) => {
      const x = axis === undefined ? tensor(input).reshape([-1]) : tensor(input);
      const { data } = host(condition);
      const kept = range(data.length).filter((i) => data[i] !== 0);
      const index = eg.tensor(BigInt64Array.from(kept, BigInt), { device: x.device });
      return eg.indexSelect(x, axis ?? 0, index);
    },
  }),
  NonZero: op({ since: 9, ownTypes: true, run: ([x]) => eg.nonzero(tensor(x)).t() }),
  Unique: op({
    since: 11,
    attributes: { axis: maybeInt, sorted: flag(true) },
    ownTypes: true,
    run: ([input], { axis, sorted }) => {
      const x = tensor(input);
      return unique(x, axis === undefined ? undefined : axisOf(axis, x.ndim), sorted);
    },
  }),
  OneHot: op({
    since: 9,
    attributes: { axis: int(-1) },
    settings: [1, 2],
    ownTypes: true,
    run: ([indices, depth, values], { axis }) => {
      const count = number(depth) ?? 0;
      const given = tensor(indices).to("int64");
      const places = given.add(given.lt(0).to("int64").mul(count));
      const [off, on] = eg.unbind(tensor(values)) as [eg.Tensor, eg.Tensor];
      const classes = eg.arange(count, { dtype: "int64", device: given.device });
      const dim = axisOf(axis, given.ndim + 1);
      const sizes = range(given.ndim + 1).map((i) => (i === dim ? count : 1));
      return eg.where(places.unsqueeze(dim).eq(classes.reshape(sizes)), on, off);
    },
  }),
};
