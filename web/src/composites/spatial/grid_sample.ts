// Sampling images at positions between their pixels.

import { toDtype } from "../../generated/internal.js";
import {
  add,
  clamp,
  detach,
  expand,
  floor,
  gather,
  logicalAnd,
  mul,
  reshape,
  round,
  select,
  sub,
  unsqueeze,
  where,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { type Edges, isWithin, padded, pixelOf } from "./sampling_positions.js";

type Mode = "bilinear" | "nearest" | "bicubic";

/**
 * Samples `input` [N, C, H, W] at the positions `grid` [N, H', W', 2], whose last axis is (x, y) from -1 to 1, and returns
 * [N, C, H', W']. Volumes [N, C, D, H, W] are sampled at (x, y, z), except with "bicubic". Outside the image are zeros, the
 * nearest edge, or a reflection.
 */
export const gridSample = /* @__PURE__ */ composite(
  "gridSample",
  "input:tensor grid:tensor mode:choice(bilinear|nearest|bicubic)=bilinear paddingMode:choice(zeros|border|reflection)=zeros alignCorners:bool?=null",
  (input, grid, mode, paddingMode, alignCorners) => {
    checkShapes(input, grid, mode);
    const isAligned = alignCorners ?? false;
    const [count = 0, channels = 0, ...sizes] = input.shape;
    const outer = grid.shape.slice(1, -1);
    const positions = reshape(grid, [count, outer.reduce((a, b) => a * b, 1), sizes.length]);
    const axes = sizes.map((size, d) => {
      const position = pixelOf(select(positions, 2, sizes.length - 1 - d), size, isAligned);
      return tapsOf(position, size, mode, paddingMode, isAligned);
    });
    const flat = reshape(input, [count, channels, sizes.reduce((a, b) => a * b, 1)]);
    return reshape(weighted(flat, sizes, axes), [count, channels, ...outer]);
  },
);

/** A pixel along one axis that contributes to each position: its index, whether it is in the image, and its weight. */
interface Tap {
  readonly at: Tensor;
  readonly isInside: Tensor;
  readonly weight: Tensor;
}

// The pixels along one axis that contribute to each position.
function tapsOf(
  pixel: Tensor,
  size: number,
  mode: Mode,
  edges: Edges,
  alignCorners: boolean,
): Tap[] {
  if (mode === "bicubic") {
    const first = floor(pixel);
    return cubicWeights(sub(pixel, first)).map((weight, i) =>
      tapAt(padded(add(first, i - 1), size, edges, alignCorners), size, weight),
    );
  }
  const position = padded(pixel, size, edges, alignCorners);
  if (mode === "nearest") {
    // A weight of 1 with derivative 0, because the grid has a gradient of zeros in PyTorch.
    const near = round(position);
    return [tapAt(near, size, add(sub(near, floor(near)), 1))];
  }
  const first = floor(position);
  const rest = sub(position, first);
  return [tapAt(first, size, sub(1, rest)), tapAt(add(first, 1), size, rest)];
}

function tapAt(pixel: Tensor, size: number, weight: Tensor): Tap {
  const at = toDtype(clamp(detach(pixel), 0, size - 1), "int64");
  return { at, isInside: isWithin(pixel, size), weight };
}

// The sum over all combinations of the taps of the axes. `flat` is [N, C, pixels].
function weighted(flat: Tensor, sizes: readonly number[], axes: readonly Tap[][]): Tensor {
  const [first = [], ...rest] = axes;
  let taps = first;
  for (const [d, more] of rest.entries()) {
    const size = sizes[d + 1] ?? 1;
    taps = taps.flatMap((outer) => more.map((inner) => combined(outer, inner, size)));
  }
  return taps.map((tap) => contribution(flat, tap)).reduce((sum, part) => add(sum, part));
}

function combined(outer: Tap, inner: Tap, size: number): Tap {
  return {
    at: add(mul(outer.at, size), inner.at),
    isInside: logicalAnd(outer.isInside, inner.isInside),
    weight: mul(outer.weight, inner.weight),
  };
}

function contribution(flat: Tensor, { at, isInside, weight }: Tap): Tensor {
  const [count = 0, channels = 0] = flat.shape;
  const positions = expand(unsqueeze(at, 1), [count, channels, at.shape[1] ?? 0]);
  const values = where(unsqueeze(isInside, 1), gather(flat, 2, positions), 0);
  return mul(values, unsqueeze(weight, 1));
}

// The weights of the four pixels around a position that is `rest` beyond the second one (A = -0.75, as in PyTorch).
function cubicWeights(rest: Tensor): Tensor[] {
  const a = -0.75;
  const near = (x: Tensor) => add(mul(mul(sub(mul(x, a + 2), a + 3), x), x), 1);
  const far = (x: Tensor) => sub(mul(add(mul(sub(mul(x, a), 5 * a), x), 8 * a), x), 4 * a);
  return [far(add(rest, 1)), near(rest), near(sub(1, rest)), far(sub(2, rest))];
}

function checkShapes(input: Tensor, grid: Tensor, mode: Mode): void {
  const axes = input.ndim - 2;
  const reason = `input of shape [${input.shape.join(", ")}] and grid of shape [${grid.shape.join(", ")}]`;
  if (axes !== 2 && axes !== 3) {
    fail(
      "ShapeMismatch",
      "gridSample",
      `expected an input of four or five dimensions, got ${reason}.`,
    );
  }
  if (mode === "bicubic" && axes !== 2) {
    fail(
      "InvalidArgument",
      "gridSample",
      `mode "bicubic" needs an input of four dimensions, got ${reason}.`,
    );
  }
  if (grid.ndim !== input.ndim || grid.shape[0] !== input.shape[0] || grid.shape.at(-1) !== axes) {
    const expected = "expected a grid with the batch size and dimensions of input";
    fail("ShapeMismatch", "gridSample", `${expected} and a last size of ${axes}, got ${reason}.`);
  }
  if (input.dtype !== grid.dtype) {
    const got = `expected the dtype of input, ${input.dtype}, got ${grid.dtype}`;
    fail("DtypeMismatch", "gridSample", `grid: ${got}.`);
  }
  if (input.shape.slice(2).includes(0)) {
    fail("ShapeMismatch", "gridSample", `expected an input of at least one pixel, got ${reason}.`);
  }
}
