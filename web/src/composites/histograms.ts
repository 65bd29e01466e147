// Counts of elements by value.

import { toDtype } from "../generated/internal.js";
import {
  amax,
  amin,
  bucketize,
  clamp,
  clone,
  diff,
  div,
  flatten,
  ge,
  indexAdd,
  le,
  linspace,
  logicalAnd,
  mul,
  narrow,
  ones,
  sub,
  sum,
  trunc,
  where,
  zeros,
} from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isComplex, isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";

import { sizeOf } from "./shapes.js";

/** The number of occurrences of each integer from 0 on in a one-dimensional tensor; with `weights`, the sum of their weights. */
export const bincount = /* @__PURE__ */ composite(
  "bincount",
  "input:tensor weights:tensor?=null minlength:int=0",
  (input, weights, minlength) => {
    checkCounted(input, weights, minlength);
    const most = input.numel === 0 ? -1 : Number(amax(input).item<number | bigint>());
    const size = Math.max(most + 1, minlength);
    const positions = toDtype(input, "int64");
    if (weights === null)
      return counted(
        positions,
        size,
        ones([input.numel], { dtype: "int64", device: input.device }),
      );
    return counted(positions, size, isFloat(weights.dtype) ? weights : toDtype(weights, "float64"));
  },
);

function checkCounted(input: Tensor, weights: Tensor | null, minlength: number): void {
  if (isFloat(input.dtype) || isComplex(input.dtype) || input.dtype === "bool") {
    fail("DtypeMismatch", "bincount", `input: expected integers, got ${input.dtype}.`);
  }
  if (weights !== null && isComplex(weights.dtype)) {
    fail("DtypeMismatch", "bincount", `weights: expected real numbers, got ${weights.dtype}.`);
  }
  if (input.ndim !== 1 || (input.numel > 0 && Number(amin(input).item<number | bigint>()) < 0)) {
    const reason = "input: expected one dimension and no negative numbers";
    fail("InvalidArgument", "bincount", `${reason}, got shape [${input.shape}].`);
  }
  if (minlength < 0)
    fail("InvalidArgument", "bincount", `minlength: expected 0 or more, got ${minlength}.`);
  if (weights !== null && (weights.ndim !== 1 || weights.numel !== input.numel)) {
    const reason = `weights: expected the shape of input, [${input.shape}]`;
    fail("ShapeMismatch", "bincount", `${reason}, got [${weights.shape}].`);
  }
}

/** The sum of the weights at each index. */
export function counted(positions: Tensor, size: number, weights: Tensor): Tensor {
  const { dtype, device } = weights;
  return indexAdd(zeros([size], { dtype, device }), 0, positions, weights);
}

/**
 * The number of elements in each of `bins` equal intervals from `min` to `max`, or over the range of the data if both are
 * equal. Elements outside are not counted; the last interval includes its end.
 */
export const histc = /* @__PURE__ */ composite(
  "histc",
  "input:tensor bins:int=100 min:number=0 max:number=0",
  (input, bins, min, max) => {
    checkBinned("histc", input, bins);
    const values = flatten(input.detach());
    const [low, high] = rangeOf("histc", values, min, max);
    const isInside = logicalAnd(ge(values, low), le(values, high));
    const inside = where(isInside, values, low);
    const bin = trunc(div(mul(sub(inside, low), bins), high - low));
    return counted(lastAtMost(bin, bins), bins, toDtype(isInside, input.dtype));
  },
);

/**
 * The number of elements in each bin, and the edges of the bins. `bins` is the number of equal bins in `range` (by default
 * 100 in the range of the data), or the edges themselves. `weight` has a weight per element; with `density` the total area is 1.
 */
export const histogram = /* @__PURE__ */ composite(
  "histogram",
  "input:tensor bins:any=100 range:numbers?=null weight:tensor?=null density:bool=false",
  (input, bins: number | Tensor, range, weight, density): [hist: Tensor, binEdges: Tensor] => {
    checkHistogram(input, bins, range, weight);
    const values = flatten(input.detach());
    const edges = edgesOf("histogram", values, bins, range);
    const count = sizeOf(edges, 0) - 1;
    const { isInside, bin } = binsOf(values, edges);
    const weights =
      weight === null ? toDtype(isInside, input.dtype) : mul(flatten(weight), isInside);
    const hist = counted(bin, count, weights);
    return [density ? div(div(hist, sum(hist)), diff(edges)) : hist, edges];
  },
);

function checkHistogram(
  input: Tensor,
  bins: unknown,
  range: readonly number[] | null,
  weight: Tensor | null,
): void {
  if (weight !== null && String(weight.shape) !== String(input.shape)) {
    const reason = `weight: expected the shape of input, [${input.shape}]`;
    fail("ShapeMismatch", "histogram", `${reason}, got [${weight.shape}].`);
  }
  if (weight !== null && weight.dtype !== input.dtype) {
    const reason = `weight: expected the dtype of input, ${input.dtype}`;
    fail("DtypeMismatch", "histogram", `${reason}, got ${weight.dtype}.`);
  }
  const isWrong = range !== null && ([range].flat().length !== 2 || bins instanceof Tensor);
  if (isWrong)
    fail(
      "InvalidArgument",
      "histogram",
      "range: expected two numbers, together with a number of bins.",
    );
}

/** The edges of the bins: those that were given, or those of equal bins. */
export function edgesOf(
  where: string,
  values: Tensor,
  bins: unknown,
  range: readonly number[] | null,
): Tensor {
  if (bins instanceof Tensor) {
    if (bins.ndim !== 1 || bins.numel < 2 || bins.dtype !== values.dtype) {
      const reason = `one dimension of two or more edges in ${values.dtype}`;
      fail(
        "InvalidArgument",
        where,
        `bins: expected ${reason}, got ${bins.dtype} [${bins.shape}].`,
      );
    }
    return clone(bins);
  }
  checkBinned(where, values, bins);
  const [low, high] = range ?? (values.numel > 0 ? rangeOfData(values) : [0, 1]);
  const [from, to] = widened(where, low as number, high as number, 0.5);
  return linspace(from, to, bins + 1, { dtype: values.dtype, device: values.device });
}

function checkBinned(where: string, input: Tensor, bins: unknown): asserts bins is number {
  if (!isFloat(input.dtype)) {
    fail("DtypeMismatch", where, `input: expected float32 or float64, got ${input.dtype}.`);
  }
  if (!Number.isInteger(bins) || (bins as number) <= 0) {
    fail("InvalidArgument", where, `bins: expected a whole number above 0, got ${describe(bins)}.`);
  }
}

// If the ends are equal, the range of the data is used.
function rangeOf(where: string, values: Tensor, min: number, max: number): [number, number] {
  const isOfData = min === max && values.numel > 0;
  const [low, high] = isOfData ? rangeOfData(values) : [min, max];
  return widened(where, low, high, 1);
}

const rangeOfData = (values: Tensor): [number, number] => [
  amin(values).item(),
  amax(values).item(),
];

// Extends a range without a width on either side.
function widened(where: string, low: number, high: number, by: number): [number, number] {
  if (low > high)
    fail("InvalidArgument", where, `max: expected at least min, ${low}, got ${high}.`);
  if (!Number.isFinite(low) || !Number.isFinite(high))
    fail("InvalidArgument", where, `the range [${low}, ${high}] is not finite.`);
  return low === high ? [low - by, high + by] : [low, high];
}

/** The bin of each element as int64, and whether it is inside of one; the last bin includes its end. */
export function binsOf(values: Tensor, edges: Tensor): { isInside: Tensor; bin: Tensor } {
  const count = sizeOf(edges, 0) - 1;
  // The number of edges that are not above each element.
  const passed = bucketize(values, edges, { right: true });
  const isInside = logicalAnd(ge(passed, 1), le(values, narrow(edges, 0, count, 1)));
  return { isInside, bin: lastAtMost(clamp(sub(passed, 1), 0), count) };
}

function lastAtMost(bin: Tensor, bins: number): Tensor {
  return toDtype(clamp(bin, { max: bins - 1 }), "int64");
}
