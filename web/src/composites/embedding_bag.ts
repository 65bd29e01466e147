// Bags of embeddings: one vector per bag, from the rows of a table that its indices name.

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
import { fail } from "../runtime/errors.js";
import { isComplex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { dividedByFrequency, limitNorms } from "./embedding_rows.js";

type Mode = "sum" | "mean" | "max";

interface EmbeddingBagOptions {
  offsets?: Tensor | null;
  maxNorm?: number | null;
  normType?: number;
  scaleGradByFreq?: boolean;
  mode?: Mode;
  sparse?: false;
  perSampleWeights?: Tensor | null;
  includeLastOffset?: boolean;
  paddingIdx?: number | null;
}

interface EmbeddingBag {
  (input: Tensor, weight: Tensor, options?: EmbeddingBagOptions): Tensor;
  (
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | null,
    options?: Omit<EmbeddingBagOptions, "offsets">,
  ): Tensor;
  (
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | null,
    maxNorm: number | null,
    normType: number,
    scaleGradByFreq: boolean,
    mode?: Mode,
    sparse?: false,
    perSampleWeights?: Tensor | null,
    includeLastOffset?: boolean,
    paddingIdx?: number | null,
  ): Tensor;
}

/**
 * Sum, mean or largest elements of bags of rows of `weight` [rows, size]. A bag is a row of `input` [bags, n], or what lies in
 * `input` [n] from one of `offsets` [bags] to the next. An empty bag gives zeros; `paddingIdx` is a row that no bag counts;
 * `perSampleWeights`, shaped as `input`, are for sums. "max" with offsets reads how long the longest bag is. `maxNorm` first scales the
 * rows that are looked up down in place, to that norm of order `normType`; `scaleGradByFreq` divides gradients by how often a row is.
 */
export const embeddingBag: EmbeddingBag = /* @__PURE__ */ composite(
  "embeddingBag",
  "input:tensor weight:tensor offsets:tensor?=null maxNorm:number?=null normType:number=2 scaleGradByFreq:bool=false mode:choice(sum|mean|max)=mean sparse:bool=false perSampleWeights:tensor?=null includeLastOffset:bool=false paddingIdx:int?=null",
  (
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | null,
    maxNorm: number | null,
    normType: number,
    scaleGradByFreq: boolean,
    mode: Mode,
    sparse: boolean,
    perSampleWeights: Tensor | null,
    includeLastOffset: boolean,
    paddingIdx: number | null,
  ) => {
    refuse(sparse, "sparse is not supported: gradients are dense.");
    const isScaledMax = scaleGradByFreq && mode === "max";
    refuse(isScaledMax, "max mode does not support scaling the gradient by the frequency.");
    const bags = bagsOf(input, offsets, includeLastOffset);
    checkWeights(input, perSampleWeights, mode);
    if (mode !== "sum" && isComplex(weight.dtype)) {
      const told = `mode "${mode}" takes real weights, but these are ${weight.dtype}: use "sum".`;
      fail("DtypeMismatch", "embeddingBag", told);
    }
    const isCounted = paddingIdx === null ? null : ne(bags.indices, rowOf(paddingIdx, weight));
    // Last of what may refuse something: it changes the weights.
    if (maxNorm !== null) limitNorms(weight, bags.indices, maxNorm, normType);
    if (mode === "max") return largest(bags, weight, isCounted);
    const plain = embedding(bags.indices, weight);
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
  /** The bag of every index, and where each bag starts. */
  readonly bagOf: Tensor;
  readonly starts: Tensor;
  /** How long the longest bag is, if that is known. */
  readonly length: number | null;
}

function bagsOf(input: Tensor, offsets: Tensor | null, includeLastOffset: boolean): Bags {
  const { device } = input;
  if (input.ndim === 2) {
    if (offsets !== null) {
      const told =
        "if input is 2D, then offsets has to be None, as input is treated as a mini-batch of fixed length sequences.";
      fail("InvalidArgument", "embeddingBag", told);
    }
    const [count = 0, length = 0] = input.shape;
    const starts = mul(arange(count, { dtype: "int64", device }), length);
    return withBags(reshape(input, [count * length]), starts, length);
  }
  if (input.ndim !== 1) {
    const told = `input has to be 1D or 2D Tensor, but got Tensor of dimension ${input.ndim}.`;
    fail("ShapeMismatch", "embeddingBag", told);
  }
  if (offsets === null || offsets.ndim !== 1) {
    const got = offsets === null ? "null" : `${offsets.ndim}D`;
    fail(
      "InvalidArgument",
      "embeddingBag",
      `offsets has to be a 1D Tensor for 1D input, got ${got}.`,
    );
  }
  const size = offsets.shape[0] ?? 0;
  if (includeLastOffset && size === 0) {
    fail(
      "InvalidArgument",
      "embeddingBag",
      "includeLastOffset: the size of offsets has to be at least 1.",
    );
  }
  const starts = includeLastOffset ? narrow(offsets, 0, 0, size - 1) : offsets;
  return withBags(input, toDtype(starts, "int64"), null);
}

// The bag of an index is the last that starts at it or before: as many as start so far, less one.
function withBags(indices: Tensor, starts: Tensor, length: number | null): Bags {
  const { device } = indices;
  const none = zeros([indices.numel + 1], { dtype: "int64", device });
  const startsAt = indexAdd(none, 0, starts, onesLike(starts));
  const bagOf = sub(cumsum(narrow(startsAt, 0, 0, indices.numel), 0), 1);
  return { indices, count: starts.numel, bagOf, starts, length };
}

// The sum of rows [indices, n] by their bags.
function perBag({ count, bagOf }: Bags, rows: Tensor): Tensor {
  const { dtype, device } = rows;
  return indexAdd(zeros([count, rows.shape[1] ?? 0], { dtype, device }), 0, bagOf, rows);
}

// Bags side by side as the rows of a table, which has room for the longest.
function largest(bags: Bags, weight: Tensor, isCounted: Tensor | null): Tensor {
  const { indices, count, bagOf, starts } = bags;
  const { dtype, device } = weight;
  const size = weight.shape[1] ?? 0;
  const places = sub(
    arange(indices.numel, { dtype: "int64", device }),
    indexSelect(starts, 0, bagOf),
  );
  const length = bags.length ?? (indices.numel === 0 ? 0 : Number(max(places).item()) + 1);
  // Nothing of weight takes part, yet it is what the zeros are made of, as gradients have it.
  if (length === 0 || count === 0) {
    return add(zeros([count, size], { dtype, device }), sum(narrow(weight, 0, 0, 0), 0));
  }
  const at = [add(mul(bagOf, length), places)];
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
  const told = `padding_idx must be within the number of embeddings, ${rows}, but got ${paddingIdx}.`;
  return fail("IndexOutOfRange", "embeddingBag", told);
}

function checkWeights(input: Tensor, weights: Tensor | null, mode: Mode): void {
  if (weights === null) return;
  if (mode !== "sum") {
    const told = `per_sample_weights was not None. It is only supported for mode='sum', but got mode='${mode}'.`;
    fail("InvalidArgument", "embeddingBag", told);
  }
  if (weights.shape.join() === input.shape.join()) return;
  const told = `If per_sample_weights (shape [${weights.shape.join(", ")}]) is not None, then it must have the same shape as the input ([${input.shape.join(", ")}]).`;
  fail("ShapeMismatch", "embeddingBag", told);
}

function refuse(isGiven: boolean, reason: string): void {
  if (isGiven) fail("InvalidArgument", "embeddingBag", reason);
}
