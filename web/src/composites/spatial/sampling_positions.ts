// From the coordinates of a grid to pixel positions, inside and outside the image.

import {
  abs,
  add,
  clamp,
  detach,
  div,
  eq,
  floor,
  fmod,
  ge,
  gt,
  isfinite,
  le,
  logicalAnd,
  lt,
  mul,
  remainder,
  sub,
  where,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** The values outside the image. */
export type Edges = "zeros" | "border" | "reflection";

/** The position in pixels, counted from the first one, for a coordinate from -1 to 1. */
export function pixelOf(coordinate: Tensor, size: number, alignCorners: boolean): Tensor {
  if (alignCorners) return mul(add(coordinate, 1), (size - 1) / 2);
  return div(sub(mul(add(coordinate, 1), size), 1), 2);
}

/** The positions to read, with those outside the image moved according to `edges`. NaN counts as outside. */
export function padded(pixel: Tensor, size: number, edges: Edges, alignCorners: boolean): Tensor {
  if (edges === "zeros") return orOutside(pixel);
  if (edges === "border") return orOutside(clipped(pixel, size));
  const [low, high] = alignCorners ? [0, size - 1] : [-0.5, size - 0.5];
  return orOutside(clipped(reflected(pixel, low, high), size));
}

/** True where a whole position is that of a pixel of the image. */
export function isWithin(pixel: Tensor, size: number): Tensor {
  return logicalAnd(ge(pixel, 0), lt(pixel, size));
}

// Like clamp(), but with a derivative of 0 at the ends themselves, as in PyTorch.
function clipped(pixel: Tensor, size: number): Tensor {
  const isFree = logicalAnd(gt(pixel, 0), lt(pixel, size - 1));
  return where(isFree, pixel, clamp(detach(pixel), 0, size - 1));
}

// Reflects positions back and forth between `low` and `high`.
function reflected(pixel: Tensor, low: number, high: number): Tensor {
  const span = high - low;
  if (span <= 0) return mul(pixel, 0);
  const distance = abs(sub(pixel, low));
  const rest = fmod(distance, span);
  const isOdd = eq(remainder(floor(div(detach(distance), span)), 2), 1);
  return add(where(isOdd, sub(span, rest), rest), low);
}

// Positions too large for 32-bit integers are replaced by one that is outside any image.
function orOutside(pixel: Tensor): Tensor {
  const isInRange = logicalAnd(isfinite(pixel), le(abs(pixel), 2 ** 30));
  return where(isInRange, pixel, -100);
}
