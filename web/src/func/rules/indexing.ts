// Rules for ops that read or write at positions given by tensors.

import { index as indexOp, toDtype } from "../../generated/internal.js";
import {
  add,
  arange,
  clone,
  flatten,
  gather,
  indexPut_,
  indexSelect,
  movedim,
  mul,
  reshape,
  searchsorted,
  squeeze,
  takeAlongDim,
  unsqueeze,
  where,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastable, type Call, type Operand, type Rule, range } from "./call.js";
import { countOf, shiftDim, shifted } from "./dims.js";

/** Throws the error for ops whose result size depends on values. */
export function dependsOnData(name: string): never {
  fail(
    "InvalidArgument",
    "vmap",
    `${name} cannot be used inside vmap(): the shape of its result depends on values and could differ by sample. ` +
      "Use where() or a mask instead.",
  );
}

// Handles positions that differ by sample: the rows of all samples are concatenated and the positions offset accordingly.
function onRows(call: Call, source: string | null): Tensor | null {
  const rank = call.rank("input");
  if (rank === 0 || call.rank("index") > 1) return null;
  const dim = shiftDim(call.op.name, call.value("dim"), rank) as number;
  const rowsOf = (name: string) => movedim(call.batch(name), dim, 1);
  const input = rowsOf("input");
  const [, rows = 0, ...rest] = input.shape;
  const index = reshape(call.batch("index"), [call.size, -1]);
  const starts = reshape(rowStarts(call, rows), [call.size, 1]);
  const change = source === null ? {} : { [source]: flatten(rowsOf(source), 0, 1) };
  const all = { input: flatten(input, 0, 1), dim: 0, index: reshape(add(index, starts), [-1]) };
  const result = call.runOne({ ...all, ...change });
  const count = call.size === 0 ? 0 : (result.shape[0] ?? 0) / call.size;
  return movedim(reshape(result, [call.size, count, ...rest]), 1, dim);
}

const selected: Rule = (call) => {
  if (call.isBatched("index")) return call.rank("index") === 1 ? onRows(call, null) : null;
  if (call.rank("input") === 0) return null;
  const dim = shiftDim("indexSelect", call.value("dim"), call.rank("input"));
  return call.run({ input: call.batch("input"), dim });
};

// Both the written values and the positions may differ by sample.
const written =
  (source: string): Rule =>
  (call) => {
    const rank = call.rank("input");
    const isFill = source === "value";
    if (rank === 0) return null;
    if (isFill && call.isBatched("value")) return filledByOwn(call);
    if (!isFill && call.rank(source) !== rank) return null;
    if (call.isBatched("index")) return onRows(call, isFill ? null : source);
    const change = isFill ? {} : { [source]: call.batch(source) };
    const dim = shiftDim(call.op.name, call.value("dim"), rank);
    return call.run({ input: call.batch("input"), dim, ...change });
  };

// Fills every sample with a different number at the same positions.
function filledByOwn(call: Call): Tensor | null {
  if (call.isBatched("index")) return null;
  const input = call.batch("input");
  const rank = call.rank("input");
  const dim = shiftDim("indexFill", call.value("dim"), rank) as number;
  const { device } = input;
  const none = zeros([input.shape[dim] ?? 0], { dtype: "bool", device });
  const isFilled = call.runOne({ input: none, dim: 0, value: true });
  const shape = input.shape.map((size, i) => (i === dim ? size : 1));
  const value = reshape(call.batch("value"), [call.size, ...new Array(rank).fill(1)]);
  return where(reshape(isFilled, shape), toDtype(value, input.dtype), input);
}

// Ops of elements along a dimension, whose result has the rank of one operand. A sample without dimensions is a vector with
// one element, also beside vectors.
const ofElements =
  (like: "input" | "index"): Rule =>
  (call) => {
    const names = ["input", "index", "src"].filter((name) => call.value(name) instanceof Tensor);
    const rank = Math.max(call.rank("input"), 1);
    if (names.some((name) => Math.max(call.rank(name), 1) !== rank)) return null;
    const changes: Record<string, unknown> = {
      dim: shiftDim(call.op.name, call.value("dim"), rank),
    };
    for (const name of names) {
      const batch = call.batch(name);
      changes[name] = call.rank(name) === 0 ? unsqueeze(batch, 1) : batch;
    }
    const result = call.runOne(changes);
    return call.rank(like) === 0 ? squeeze(result, 1) : result;
  };

// Searches one sorted sequence for all rows, or a different one for each.
const searchRows: Rule = (call) => {
  const [sorted, input] = [call.operand("sortedSequence"), call.operand("input")];
  if (sorted === null || input === null) return null;
  const hasSorter = call.operand("sorter") !== null;
  if (sorted.rank === 1 && !sorted.isBatched && !call.isBatched("sorter")) {
    return call.run({ input: call.batch("input") });
  }
  if (sorted.rank !== 1 && sorted.rank !== input.rank) return null;
  const values = call.batch("input");
  const rows = sorted.rank === 1 ? reshape(values, [call.size, countOf(values)]) : values;
  const sorter = hasSorter ? call.batch("sorter") : null;
  const change = { sortedSequence: call.batch("sortedSequence"), input: rows, sorter };
  return reshape(call.runOne(change), values.shape);
};

const inBuckets: Rule = (call) => {
  if (call.operand("input") === null) return null;
  const values = call.batch("input");
  if (!call.isBatched("boundaries")) return call.run({ input: values });
  const rows = reshape(values, [call.size, countOf(values)]);
  const [outInt32, right] = [call.value<boolean>("outInt32"), call.value<boolean>("right")];
  return reshape(searchsorted(call.batch("boundaries"), rows, { outInt32, right }), values.shape);
};

const alongDim: Rule = (call) => {
  if (call.value("dim") !== null) return shifted(call);
  const [input, indices] = [call.batch("input"), call.batch("indices")];
  const flat = reshape(indices, [call.size, countOf(indices)]);
  return takeAlongDim(reshape(input, [call.size, countOf(input)]), flat, 1);
};

const takeRows: Rule = (call) => {
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

// With a different table per sample, the tables are concatenated.
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

// The row of the padding index receives no gradient.
function withoutGradient(table: Tensor, padding: number, rows: number): Tensor {
  const row = padding < 0 ? padding + rows : padding;
  const isPadding = reshape(arange(rows).eq(row), [rows, 1]);
  return where(isPadding, table.detach(), table);
}

const isMask = ({ dtype }: Tensor): boolean => dtype === "bool" || dtype === "uint8";

// True if the indexed dimensions are adjacent; the result then has the index dimensions at the position of the first.
function areAdjacent(indices: readonly Operand[], dims: readonly number[]): boolean {
  return dims.every((dim, i) => {
    const before = indices[i - 1];
    if (before === undefined) return true;
    const width = isMask(before.tensor) ? before.rank : 1;
    return dim === (dims[i - 1] ?? 0) + width;
  });
}

// Collects the indices of a call and the dimensions that they index.
function picksOf(call: Call) {
  const indices = call.value<Tensor[]>("indices").map((index) => call.operandOf(index));
  const given = call.value<number | number[] | null | undefined>("dims") ?? starts(indices);
  const dims = Array.isArray(given) ? given : [given];
  const rank = Math.max(...indices.map(({ tensor, rank }) => (isMask(tensor) ? 1 : rank)));
  return {
    dims,
    /** The number of dimensions of the broadcast indices. */
    rank,
    areAdjacent: areAdjacent(indices, dims),
    areBatched: indices.some(({ isBatched }) => isBatched),
    hasOwnMasks: indices.some(({ tensor, isBatched }) => isBatched && isMask(tensor)),
    areMasks: indices.some(({ tensor }) => isMask(tensor)),
    /** The indices with shapes that broadcast with each other. */
    tensors: indices.map((index) =>
      isMask(index.tensor) ? index.tensor : broadcastable(index, rank),
    ),
    /** The number of indexed dimensions of the input. */
    used: indices.reduce((sum, { tensor, rank }) => sum + (isMask(tensor) ? rank : 1), 0),
  };
}

// If no dimensions are given, the indices apply to the first ones.
function starts(indices: readonly Operand[]): number[] {
  let next = 0;
  return indices.map(({ tensor, rank }) => {
    const dim = next;
    next += isMask(tensor) ? rank : 1;
    return dim;
  });
}

// Returns the index of each sample, shaped to broadcast with indices of `rank` dimensions.
function sampleNumbers(call: Call, rank: number): Tensor {
  return reshape(rowStarts(call, 1), [call.size, ...new Array(rank).fill(1)]);
}

const indexed: Rule = (call) => {
  const { dims, rank, areAdjacent, areBatched, areMasks, hasOwnMasks, tensors } = picksOf(call);
  if (hasOwnMasks) dependsOnData("a mask as an index");
  const first = areAdjacent ? (dims[0] ?? 0) : 0;
  const moved = dims.map((dim) => dim + 1);
  const { tensor, isBatched } = call.operand("input") as Operand;
  if (!areBatched) {
    const result = indexOp(tensor, tensors, moved);
    return areAdjacent ? result : movedim(result, rank, 0);
  }
  if (areMasks) return null;
  if (!isBatched) return movedim(indexOp(tensor, tensors, dims), first, 0);
  const result = indexOp(tensor, [sampleNumbers(call, rank), ...tensors], [0, ...moved]);
  if (first === 0) return result;
  // For dimensions that are not adjacent to the batch dimension, the index dimensions come first in the result.
  const from = range(1, 1 + rank);
  return movedim(
    result,
    from,
    from.map((dim) => dim + first),
  );
};

const indexPlaced: Rule = (call) => {
  const { dims, rank, areAdjacent, areBatched, areMasks, tensors, used } = picksOf(call);
  const isInOrder = areAdjacent && (!areBatched || (dims[0] === 0 && !areMasks));
  if (!isInOrder) return null;
  const input = call.batch("input");
  const target = call.op.name.endsWith("_") ? input : clone(input);
  const values = call.operand("values");
  const source =
    values === null
      ? call.value("values")
      : broadcastable(values, call.rank("input") - used + rank);
  const moved = dims.map((dim) => dim + 1);
  const indices = areBatched ? [sampleNumbers(call, rank), ...tensors] : tensors;
  const places = areBatched ? [0, ...moved] : moved;
  return indexPut_(target, indices, source as Tensor, call.value("accumulate"), places);
};

/** Returns the rules of indexing ops. */
export const indexRules = (): Readonly<Record<string, Rule>> => ({
  index: indexed,
  indexSelect: selected,
  indexAdd: written("source"),
  indexCopy: written("source"),
  indexReduce: written("source"),
  indexFill: written("value"),
  indexPut: indexPlaced,
  gather: ofElements("index"),
  scatter: ofElements("input"),
  scatterAdd: ofElements("input"),
  scatterReduce: ofElements("input"),
  searchsorted: searchRows,
  bucketize: inBuckets,
  takeAlongDim: alongDim,
  take: takeRows,
  embedding: embedded,
  maskedSelect: () => dependsOnData("maskedSelect"),
  nonzero: () => dependsOnData("nonzero"),
  distinctElements: () => dependsOnData("unique"),
});
