// From the places of a grid to pixels, inside the image and beyond its edges.

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

/** What is beyond the edges. */
export type Edges = "zeros" | "border" | "reflection";

/** The place of a pixel, counted from the first one, for a coordinate from -1 to 1. */
export function pixelOf(coordinate: Tensor, size: number, alignCorners: boolean): Tensor {
  if (alignCorners) return mul(add(coordinate, 1), (size - 1) / 2);
  return div(sub(mul(add(coordinate, 1), size), 1), 2);
}

/** Places as they are read: those beyond the edges where `edges` says. Places that are no numbers are outside. */
export function padded(pixel: Tensor, size: number, edges: Edges, alignCorners: boolean): Tensor {
  if (edges === "zeros") return orOutside(pixel);
  if (edges === "border") return orOutside(clipped(pixel, size));
  const [low, high] = alignCorners ? [0, size - 1] : [-0.5, size - 0.5];
  return orOutside(clipped(reflected(pixel, low, high), size));
}

/** True where a whole place is one of an image's. */
export function isWithin(pixel: Tensor, size: number): Tensor {
  return logicalAnd(ge(pixel, 0), lt(pixel, size));
}

// As clamp(), but without a derivative at the ends themselves, as PyTorch has it here.
function clipped(pixel: Tensor, size: number): Tensor {
  const isFree = logicalAnd(gt(pixel, 0), lt(pixel, size - 1));
  return where(isFree, pixel, clamp(detach(pixel), 0, size - 1));
}

// Back and forth between two mirrors.
function reflected(pixel: Tensor, low: number, high: number): Tensor {
  const span = high - low;
  if (span <= 0) return mul(pixel, 0);
  const distance = abs(sub(pixel, low));
  const rest = fmod(distance, span);
  const isOdd = eq(remainder(floor(div(detach(distance), span)), 2), 1);
  return add(where(isOdd, sub(span, rest), rest), low);
}

// What is too large to be a place, in numbers of 32 bits, is outside of any image.
function orOutside(pixel: Tensor): Tensor {
  const isPlace = logicalAnd(isfinite(pixel), le(abs(pixel), 2 ** 30));
  return where(isPlace, pixel, -100);
}
