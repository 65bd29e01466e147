// Picking and placing by tensors of positions.

import { index as indexOp } from "../../generated/internal.js";
import {
  add,
  arange,
  gather,
  indexSelect,
  movedim,
  mul,
  reshape,
  takeAlongDim,
  where,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastable, type Call, type Operand, type Rule, range } from "./call.js";
import { countOf, shiftDim, shifted } from "./dims.js";

/** The error of ops whose results have sizes that depend on values. */
export function dependsOnData(name: string): never {
  fail(
    "InvalidArgument",
    "vmap",
    `It looks like you're attempting to use ${name} in a vmap: the shape of its result depends on the data, which we ` +
      "don't support, as every sample could have another. Use where() or a mask instead.",
  );
}

// One position per row: positions that differ by sample are gathered.
const selected: Rule = (call) => {
  if (!call.isBatched("index")) {
    const dim = shiftDim("index_select", call.value("dim"), call.rank("input"));
    return call.rank("input") === 0 ? null : call.run({ input: call.batch("input"), dim });
  }
  if (call.rank("input") === 0 || call.rank("index") !== 1) return null;
  const input = call.batch("input");
  const dim = shiftDim("index_select", call.value("dim"), call.rank("input")) as number;
  const index = call.batch("index");
  const shape = input.shape.map((_, i) =>
    i === 0 ? call.size : i === dim ? (index.shape[1] ?? 0) : 1,
  );
  const wanted = input.shape.map((size, i) => (i === dim ? (index.shape[1] ?? 0) : size));
  return gather(input, dim, reshape(index, shape).expand(wanted));
};

// The same places for every sample: what is placed there may differ.
const placed =
  (source: string): Rule =>
  (call) => {
    if (call.isBatched("index") || call.rank("input") === 0) return null;
    const dim = shiftDim(call.op.name, call.value("dim"), call.rank("input"));
    const value = call.value(source);
    if (value instanceof Tensor && source === "value" && call.isBatched(source)) return null;
    const change =
      value instanceof Tensor && source !== "value" ? { [source]: call.batch(source) } : {};
    return call.run({ input: call.batch("input"), dim, ...change });
  };

const scattered: Rule = (call) =>
  call.value("src") instanceof Tensor && call.rank("src") !== call.rank("index")
    ? null
    : shifted(call);

const alongDim: Rule = (call) => {
  if (call.value("dim") !== null) return shifted(call);
  const [input, indices] = [call.batch("input"), call.batch("indices")];
  const flat = reshape(indices, [call.size, countOf(indices)]);
  return takeAlongDim(reshape(input, [call.size, countOf(input)]), flat, 1);
};

const taken: Rule = (call) => {
  const [input, index] = [call.batch("input"), call.batch("index")];
  const count = countOf(input);
  const inside = where(index.lt(0), add(index, count), index);
  const flat = gather(
    reshape(input, [call.size, count]),
    1,
    reshape(inside, [call.size, countOf(index)]),
  );
  return reshape(flat, index.shape);
};

// With a table per sample, the tables are put below one another.
const embedded: Rule = (call) => {
  const weight = call.operand("weight") as Operand;
  const input = call.operand("input") as Operand;
  if (!weight.isBatched) return call.run({ input: input.tensor });
  if (weight.rank !== 2) return null;
  const [, rows = 0, width = 0] = weight.tensor.shape;
  const index = call.batch("input");
  const place = reshape(rowStarts(call, rows), [call.size, ...new Array(input.rank).fill(1)]);
  const padding = call.value<number | null>("paddingIdx");
  const table = padding === null ? weight.tensor : withoutGradient(weight.tensor, padding, rows);
  const flat = reshape(add(index, place), [-1]);
  const picked = indexSelect(reshape(table, [call.size * rows, width]), 0, flat);
  return reshape(picked, [...index.shape, width]);
};

function rowStarts(call: Call, rows: number): Tensor {
  return mul(arange(call.size, { dtype: "int64" }), rows);
}

// The row of a padding index learns nothing.
function withoutGradient(table: Tensor, padding: number, rows: number): Tensor {
  const row = padding < 0 ? padding + rows : padding;
  const isPadding = reshape(arange(rows).eq(row), [rows, 1]);
  return where(isPadding, table.detach(), table);
}

const isMask = ({ dtype }: Tensor): boolean => dtype === "bool" || dtype === "uint8";

// True when the dimensions that are picked from follow one another; the result has them at the first one's place.
function areAdjacent(indices: readonly Operand[], dims: readonly number[]): boolean {
  return dims.every((dim, i) => {
    const before = indices[i - 1];
    if (before === undefined) return true;
    const width = isMask(before.tensor) ? before.rank : 1;
    return dim === (dims[i - 1] ?? 0) + width;
  });
}

const indexed: Rule = (call) => {
  const indices = call.value<Tensor[]>("indices").map((one) => call.operandOf(one));
  const given = call.value<number | number[]>("dims");
  const dims = Array.isArray(given) ? given : [given];
  if (indices.some(({ tensor, isBatched }) => isBatched && isMask(tensor)))
    dependsOnData("a mask as an index");
  const areMasks = indices.some(({ tensor }) => isMask(tensor));
  const ranks = indices.map(({ tensor, rank }) => (isMask(tensor) ? 1 : rank));
  const rank = Math.max(...ranks);
  const first = areAdjacent(indices, dims) ? (dims[0] ?? 0) : 0;
  const isAnyBatched = indices.some(({ isBatched }) => isBatched);
  const input = call.operand("input") as Operand;
  const own = indices.map((one) => (isMask(one.tensor) ? one.tensor : broadcastable(one, rank)));
  if (!isAnyBatched) {
    const result = indexOp(
      input.tensor,
      own,
      dims.map((dim) => dim + 1),
    );
    return areAdjacent(indices, dims) ? result : movedim(result, rank, 0);
  }
  if (areMasks) return null;
  if (!input.isBatched) return movedim(indexOp(input.tensor, own, dims), first, 0);
  const samples = reshape(arange(call.size, { dtype: "int64" }), [
    call.size,
    ...new Array(rank).fill(1),
  ]);
  const all = [samples, ...own];
  const result = indexOp(input.tensor, all, [0, ...dims.map((dim) => dim + 1)]);
  const isMoved = first > 0;
  if (!isMoved) return result;
  const from = range(1, 1 + rank);
  // Picked from dimensions that do not follow the batch's, the positions come first.
  return movedim(
    result,
    from,
    from.map((dim) => dim + first),
  );
};

const filledAt: Rule = placed("value");

/** The rules of positions. */
export const kIndexRules: Readonly<Record<string, Rule>> = {
  index: indexed,
  index_select: selected,
  index_add: placed("source"),
  index_copy: placed("source"),
  index_fill: filledAt,
  gather: shifted,
  scatter: scattered,
  scatter_add: shifted,
  take_along_dim: alongDim,
  take: taken,
  embedding: embedded,
  masked_select: () => dependsOnData("maskedSelect"),
  nonzero: () => dependsOnData("nonzero"),
};
