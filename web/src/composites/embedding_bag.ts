// Bags of embeddings: one vector per bag, from the rows of a table that its indices select.

import { toDtype } from "../generated/internal.js";
import {
  add,
  any,
  arange,
  clamp,
  cumsum,
  div,
  embedding,
  indexAdd,
  indexPut,
  indexSelect,
  max,
  mul,
  narrow,
  ne,
  onesLike,
  reshape,
  sub,
  sum,
  unsqueeze,
  where,
  zeros,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isComplex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { dividedByFrequency, limitNorms } from "./embedding_rows.js";

type Mode = "sum" | "mean" | "max";

/**
 * Sum, mean or maximum over bags of rows of `weight` [rows, size]. A bag is a row of `input` [bags, n], or the part of
 * `input` [n] from one of `offsets` [bags] to the next. An empty bag results in zeros; `paddingIdx` is a row that every bag ignores;
 * `perSampleWeights`, of the shape of `input`, are for sums. "max" with offsets reads the length of the longest bag. `maxNorm` first
 * scales the selected rows down in place, to that norm of order `normType`; `scaleGradByFreq` divides gradients by the frequency
 * of the row.
 */
export const embeddingBag = /* @__PURE__ */ composite(
  "embeddingBag",
  "input:tensor weight:tensor offsets:tensor?=null maxNorm:number?=null normType:number=2 scaleGradByFreq:bool=false mode:choice(sum|mean|max)=mean sparse:bool=false perSampleWeights:tensor?=null includeLastOffset:bool=false paddingIdx:int?=null",
  (
    input,
    weight,
    offsets,
    maxNorm,
    normType,
    scaleGradByFreq,
    mode,
    sparse,
    perSampleWeights,
    includeLastOffset,
    paddingIdx,
  ) => {
    refuse(sparse && mode === "max", 'mode "max" does not support sparse.');
    const isScaledMax = scaleGradByFreq && mode === "max";
    refuse(isScaledMax, 'mode "max" does not support scaleGradByFreq.');
    const bags = bagsOf(input, offsets, includeLastOffset);
    checkWeights(input, perSampleWeights, mode);
    if (mode !== "sum" && isComplex(weight.dtype)) {
      const reason = `mode "${mode}" needs real weights, got ${weight.dtype}: use "sum".`;
      fail("DtypeMismatch", "embeddingBag", reason);
    }
    const ignored = paddingIdx === null ? null : rowOf(paddingIdx, weight);
    const isCounted = ignored === null ? null : ne(bags.indices, ignored);
    // After all checks, because this changes the weights.
    if (maxNorm !== null) limitNorms(weight, bags.indices, maxNorm, normType);
    if (mode === "max") return largest(bags, weight, isCounted);
    const plain = embedding(bags.indices, weight, ignored, sparse);
    const rows = scaleGradByFreq
      ? dividedByFrequency(plain, bags.indices, weight.shape[0] ?? 0)
      : plain;
    const weighted =
      perSampleWeights === null
        ? rows
        : mul(rows, reshape(perSampleWeights, [bags.indices.numel, 1]));
    const counted = isCounted === null ? weighted : where(unsqueeze(isCounted, 1), weighted, 0);
    const sums = perBag(bags, counted);
    if (mode === "sum") return sums;
    const ones = isCounted ?? onesLike(bags.indices, { dtype: "bool" });
    const counts = perBag(bags, unsqueeze(toDtype(ones, weight.dtype), 1));
    return div(sums, clamp(counts, 1));
  },
);

/** A list of indices and the bag of each. */
interface Bags {
  readonly indices: Tensor;
  readonly count: number;
  /** The bag of every index, and the start of each bag. */
  readonly bagOf: Tensor;
  readonly starts: Tensor;
  /** The length of the longest bag, if it is known. */
  readonly length: number | null;
}

function bagsOf(input: Tensor, offsets: Tensor | null, includeLastOffset: boolean): Bags {
  const { device } = input;
  if (input.ndim === 2) {
    if (offsets !== null) {
      const reason = "offsets must be null for a two-dimensional input, whose rows are the bags.";
      fail("InvalidArgument", "embeddingBag", reason);
    }
    const [count = 0, length = 0] = input.shape;
    const starts = mul(arange(count, { dtype: "int64", device }), length);
    return withBags(reshape(input, [count * length]), starts, length);
  }
  if (input.ndim !== 1) {
    const reason = `input: expected one or two dimensions, got ${input.ndim}.`;
    fail("ShapeMismatch", "embeddingBag", reason);
  }
  if (offsets === null || offsets.ndim !== 1) {
    const got = offsets === null ? "null" : `${offsets.ndim} dimensions`;
    fail(
      "InvalidArgument",
      "embeddingBag",
      `offsets: expected a one-dimensional tensor for a one-dimensional input, got ${got}.`,
    );
  }
  const size = offsets.shape[0] ?? 0;
  if (includeLastOffset && size === 0) {
    fail(
      "InvalidArgument",
      "embeddingBag",
      "offsets: expected at least one with includeLastOffset, got none.",
    );
  }
  const starts = includeLastOffset ? narrow(offsets, 0, 0, size - 1) : offsets;
  return withBags(input, toDtype(starts, "int64"), null);
}

// The bag of an index is the last one that starts at or before it: the number of bags started so far, minus one.
function withBags(indices: Tensor, starts: Tensor, length: number | null): Bags {
  const { device } = indices;
  const none = zeros([indices.numel + 1], { dtype: "int64", device });
  const startsAt = indexAdd(none, 0, starts, onesLike(starts));
  const bagOf = sub(cumsum(narrow(startsAt, 0, 0, indices.numel), 0), 1);
  return { indices, count: starts.numel, bagOf, starts, length };
}

// Sums the rows [indices, n] of each bag.
function perBag({ count, bagOf }: Bags, rows: Tensor): Tensor {
  const { dtype, device } = rows;
  return indexAdd(zeros([count, rows.shape[1] ?? 0], { dtype, device }), 0, bagOf, rows);
}

// The maximum of each bag, computed in a table with one row per bag, as long as the longest bag.
function largest(bags: Bags, weight: Tensor, isCounted: Tensor | null): Tensor {
  const { indices, count, bagOf, starts } = bags;
  const { dtype, device } = weight;
  const size = weight.shape[1] ?? 0;
  const positions = sub(
    arange(indices.numel, { dtype: "int64", device }),
    indexSelect(starts, 0, bagOf),
  );
  const length = bags.length ?? (indices.numel === 0 ? 0 : Number(max(positions).item()) + 1);
  // No row of weight is used, but the zeros must depend on it so that they have a graph.
  if (length === 0 || count === 0) {
    return add(zeros([count, size], { dtype, device }), sum(narrow(weight, 0, 0, 0), 0));
  }
  const at = [add(mul(bagOf, length), positions)];
  const table = indexPut(zeros([count * length], { dtype: indices.dtype, device }), at, indices);
  const none = zeros([count * length], { dtype: "bool", device });
  const isFilled = indexPut(none, at, isCounted ?? true);
  const rows = where(unsqueeze(isFilled, 1), embedding(table, weight), Number.NEGATIVE_INFINITY);
  const [values] = max(reshape(rows, [count, length, size]), 1);
  const hasAny = any(reshape(isFilled, [count, length]), 1);
  return where(unsqueeze(hasAny, 1), values, 0);
}

function rowOf(paddingIdx: number, weight: Tensor): number {
  const rows = weight.shape[0] ?? 0;
  if (paddingIdx >= -rows && paddingIdx < rows)
    return paddingIdx < 0 ? paddingIdx + rows : paddingIdx;
  const reason = `paddingIdx: expected a row of the ${rows} of weight, got ${paddingIdx}.`;
  return fail("IndexOutOfRange", "embeddingBag", reason);
}

function checkWeights(input: Tensor, weights: Tensor | null, mode: Mode): void {
  if (weights === null) return;
  if (mode !== "sum") {
    const reason = `perSampleWeights needs mode "sum", got mode "${mode}".`;
    fail("InvalidArgument", "embeddingBag", reason);
  }
  if (weights.shape.join() === input.shape.join()) return;
  const reason = `perSampleWeights: expected the shape of input, [${input.shape.join(", ")}], got [${weights.shape.join(", ")}].`;
  fail("ShapeMismatch", "embeddingBag", reason);
}

function refuse(isGiven: boolean, reason: string): void {
  if (isGiven) fail("InvalidArgument", "embeddingBag", reason);
}
