// Quantiles: values below which given fractions of the elements lie.

import { toDtype } from "../generated/internal.js";
import {
  all,
  any,
  ceil,
  flatten,
  floor,
  gather,
  ge,
  isnan,
  le,
  lerp,
  logicalAnd,
  logicalNot,
  maximum,
  movedim,
  mul,
  reshape,
  round,
  sort,
  sub,
  sum,
  where,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { scalarLike } from "./constants.js";
import { axisOf, sizeOf } from "./shapes.js";

/** The value of a quantile between two elements. */
type Interpolation = "linear" | "lower" | "higher" | "midpoint" | "nearest";

const kLine =
  "input:tensor q:operand dim:int?=null keepdim:bool=false interpolation:choice(linear|lower|higher|midpoint|nearest)=linear";

/**
 * The values below which the fractions `q` (0..1) of the elements along `dim`, or of all elements, lie. If `q` is a list, the
 * result has a new first axis for it. NaN if one of the elements is NaN.
 */
export const quantile = /* @__PURE__ */ composite(
  "quantile",
  kLine,
  (input, q: number | Tensor, dim, keepdim, interpolation) =>
    quantilesOf("quantile", input, q, dim, keepdim, interpolation, false),
);

/** Like quantile(), but ignores elements that are NaN. */
export const nanquantile: typeof quantile = /* @__PURE__ */ composite(
  "nanquantile",
  kLine,
  (input, q: number | Tensor, dim, keepdim, interpolation) =>
    quantilesOf("nanquantile", input, q, dim, keepdim, interpolation, true),
);

function quantilesOf(
  name: string,
  input: Tensor,
  q: number | Tensor,
  dim: number | null,
  keepdim: boolean,
  kind: Interpolation,
  ignoresNan: boolean,
): Tensor {
  const parts = q instanceof Tensor ? q : scalarLike(input, q);
  checkParts(name, input, parts);
  const axis = dim === null ? 0 : axisOf(name, dim, input.ndim);
  const source = dim === null || input.ndim === 0 ? flatten(input) : input;
  if (sizeOf(source, axis) === 0) {
    fail("InvalidArgument", name, "input: expected at least one element along dim, got none.");
  }
  const [ordered = source] = sort(movedim(source, axis, -1), -1);
  const found = interpolated(ordered, ranksOf(ordered, flatten(parts), ignoresNan), kind);
  return shaped(found, input, parts, dim === null ? null : axis, keepdim);
}

function checkParts(name: string, { dtype }: Tensor, parts: Tensor): void {
  if (!isFloat(dtype)) {
    fail("DtypeMismatch", name, `input: expected float32 or float64, got ${dtype}.`);
  }
  if (parts.dtype !== dtype) {
    fail("DtypeMismatch", name, `q: expected the dtype of input, ${dtype}, got ${parts.dtype}.`);
  }
  if (parts.ndim > 1) {
    fail("ShapeMismatch", name, `q: expected at most one dimension, got [${parts.shape}].`);
  }
  if (!all(logicalAnd(ge(parts, 0), le(parts, 1))).item<boolean>()) {
    fail("InvalidArgument", name, `q: expected numbers from 0 to 1, got ${parts}.`);
  }
}

// The fractional index of each quantile in its sorted row, in which NaN comes last.
function ranksOf(ordered: Tensor, parts: Tensor, ignoresNan: boolean): Tensor {
  const last = sizeOf(ordered, ordered.ndim - 1) - 1;
  const isNan = isnan(ordered);
  if (!ignoresNan) return where(any(isNan, -1, true), last, mul(parts, last));
  const count = sum(logicalNot(isNan), -1, true);
  return maximum(mul(parts, sub(toDtype(count, ordered.dtype), 1)), scalarLike(ordered, 0));
}

function interpolated(ordered: Tensor, ranks: Tensor, kind: Interpolation): Tensor {
  const at = (rank: Tensor) => gather(ordered, -1, toDtype(rank, "int64"));
  if (kind === "lower") return at(floor(ranks));
  if (kind === "higher") return at(ceil(ranks));
  if (kind === "nearest") return at(round(ranks));
  const below = floor(ranks);
  const weight = kind === "midpoint" ? scalarLike(ordered, 0.5) : sub(ranks, below.detach());
  return lerp(at(below), at(ceil(ranks)), weight);
}

// The axis of the fractions is the last one so far, and moves to the front or, for a single fraction, is removed.
function shaped(
  found: Tensor,
  input: Tensor,
  parts: Tensor,
  axis: number | null,
  keepdim: boolean,
): Tensor {
  const kept = input.shape.map((size, d) => (axis === null || d === axis ? 1 : size));
  const shape = keepdim ? kept : kept.filter((_, d) => axis !== null && d !== axis);
  return reshape(movedim(found, -1, 0), [...parts.shape, ...shape]);
}
