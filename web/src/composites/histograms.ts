// How many elements fall where.

import type { Arguments } from "../arguments/read.js";
import { toDtype } from "../generated/internal.js";
import {
  amax,
  amin,
  bucketize,
  clamp,
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
import { describe, fail } from "../runtime/errors.js";
import { isComplex, isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";

import { sizeOf } from "./shapes.js";

/** How often each number from 0 on stands in a list of integers; with `weights`, the sum of those that belong to it. */
export const bincount: (
  input: Tensor,
  ...rest: Arguments<
    [weights: Tensor | null, minlength: number],
    { weights?: Tensor | null; minlength?: number }
  >
) => Tensor = /* @__PURE__ */ composite(
  "bincount",
  "input:tensor weights:tensor?=null minlength:int=0",
  (input: Tensor, weights: Tensor | null, minlength: number) => {
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
    const told = "bincount only supports 1-d non-negative integral inputs";
    fail("InvalidArgument", "bincount", `${told}; the shape is [${input.shape}].`);
  }
  if (minlength < 0)
    fail("InvalidArgument", "bincount", `minlength should be >= 0, got ${minlength}.`);
  if (weights !== null && (weights.ndim !== 1 || weights.numel !== input.numel)) {
    const told = "weights should be 1-d and have the same length as input";
    fail("ShapeMismatch", "bincount", `${told}, got [${weights.shape}] and [${input.shape}].`);
  }
}

/** The sum of the weights at each position. */
function counted(positions: Tensor, size: number, weights: Tensor): Tensor {
  const { dtype, device } = weights;
  return indexAdd(zeros([size], { dtype, device }), 0, positions, weights);
}

/**
 * How many elements fall into each of `bins` equal parts of min..max, or of the range of the data where both are the
 * same. What lies outside is not counted; the last part holds its end.
 */
export const histc: (
  input: Tensor,
  ...rest: Arguments<
    [bins: number, min: number, max: number],
    { bins?: number; min?: number; max?: number }
  >
) => Tensor = /* @__PURE__ */ composite(
  "histc",
  "input:tensor bins:int=100 min:number=0 max:number=0",
  (input: Tensor, bins: number, min: number, max: number) => {
    checkBinned("histc", input, bins);
    const values = flatten(input.detach());
    const [low, high] = rangeOf("histc", values, min, max);
    const isInside = logicalAnd(ge(values, low), le(values, high));
    const inside = where(isInside, values, low);
    const bin = trunc(div(mul(sub(inside, low), bins), high - low));
    return counted(lastAtMost(bin, bins), bins, toDtype(isInside, input.dtype));
  },
);

interface HistogramOptions {
  range?: readonly number[] | null;
  weight?: Tensor | null;
  density?: boolean;
}

/**
 * How many elements fall between the edges of bins, and these edges. `bins` is how many equal ones there are in `range` (that
 * of the data, if null), or the edges themselves. `weight` counts elements more or less; with `density`, the bins have area 1.
 */
export const histogram: (
  input: Tensor,
  bins: number | Tensor,
  ...rest: Arguments<
    [range: readonly number[] | null, weight: Tensor | null, density: boolean],
    HistogramOptions
  >
) => [hist: Tensor, binEdges: Tensor] = /* @__PURE__ */ composite(
  "histogram",
  "input:tensor bins:any range:numbers?=null weight:tensor?=null density:bool=false",
  (
    input: Tensor,
    bins: unknown,
    range: readonly number[] | null,
    weight: Tensor | null,
    density: boolean,
  ) => {
    checkHistogram(input, bins, range, weight);
    const values = flatten(input.detach());
    const edges = edgesOf(values, bins, range);
    const count = sizeOf(edges, 0) - 1;
    // As many edges as are not above an element; the last bin holds its end.
    const passed = bucketize(values, edges, { right: true });
    const isInside = logicalAnd(ge(passed, 1), le(values, narrow(edges, 0, count, 1)));
    const bin = lastAtMost(clamp(sub(passed, 1), 0), count);
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
    const told = "weight must have the same shape as input";
    fail("ShapeMismatch", "histogram", `${told}, got [${weight.shape}] and [${input.shape}].`);
  }
  const isWrong = range !== null && ([range].flat().length !== 2 || bins instanceof Tensor);
  if (isWrong) fail("InvalidArgument", "histogram", "range: two numbers, beside a number of bins.");
}

function edgesOf(values: Tensor, bins: unknown, range: readonly number[] | null): Tensor {
  if (bins instanceof Tensor) {
    if (bins.ndim !== 1 || bins.numel < 2 || bins.dtype !== values.dtype) {
      const told = `a list of two or more edges of ${values.dtype}`;
      fail(
        "InvalidArgument",
        "histogram",
        `bins: expected ${told}, got ${bins.dtype} [${bins.shape}].`,
      );
    }
    return bins;
  }
  checkBinned("histogram", values, bins);
  const [low = 0, high = 0] = range ?? [];
  const [from, to] = rangeOf("histogram", values, low, high);
  return linspace(from, to, bins + 1, { dtype: values.dtype, device: values.device });
}

function checkBinned(where: string, input: Tensor, bins: unknown): asserts bins is number {
  if (!isFloat(input.dtype)) {
    fail("DtypeMismatch", where, `input: expected float32 or float64, got ${input.dtype}.`);
  }
  if (!Number.isInteger(bins) || (bins as number) <= 0) {
    fail("InvalidArgument", where, `bins must be > 0, got ${describe(bins)}.`);
  }
}

// Where the ends are the same, those of the data count; where these are too, one is added on either side.
function rangeOf(where: string, values: Tensor, min: number, max: number): [number, number] {
  if (min > max)
    fail("InvalidArgument", where, `max must be larger than min, got ${min} and ${max}.`);
  const isOfData = min === max && values.numel > 0;
  const low = isOfData ? amin(values).item() : min;
  const high = isOfData ? amax(values).item() : max;
  if (!Number.isFinite(low) || !Number.isFinite(high)) {
    fail("InvalidArgument", where, `range of [${low}, ${high}] is not finite.`);
  }
  return low === high ? [low - 1, high + 1] : [low, high];
}

function lastAtMost(bin: Tensor, bins: number): Tensor {
  return toDtype(clamp(bin, { max: bins - 1 }), "int64");
}
