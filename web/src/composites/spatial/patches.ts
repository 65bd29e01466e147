// Patches of images as columns of a matrix, and back.

import type { Ints } from "../../dispatch/types.js";
import { pad, permute, reshape } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { cropped, inBatch, overlapAdd, perAxis, spanOf, windowsOf } from "../geometry.js";

/**
 * Extracts the patches of images [N, C, H, W] or [C, H, W] as columns, [N, C * kernel height * kernel width, patches]. PyTorch
 * calls it torch.nn.functional.unfold.
 */
export const im2col = /* @__PURE__ */ composite(
  "im2col",
  "input:tensor kernelSize:ints dilation:ints=1 padding:ints=0 stride:ints=1",
  (input, kernelSize, dilation, padding, stride) => {
    const axes = patchAxes("im2col", kernelSize, dilation, padding, stride);
    return inBatch("im2col", input, 4, (batch) => {
      for (const [d, axis] of axes.entries()) patchesAlong("im2col", batch.shape[d + 2] ?? 0, axis);
      const [rows, columns] = axes;
      const { edge } = rows;
      const edges = [columns.edge, columns.edge, edge, edge];
      const padded = edge + columns.edge > 0 ? pad(batch, edges) : batch;
      const windows = windowsAlong(windowsAlong(padded, 2, rows), 3, columns);
      const [size = 0, channels = 0, down = 0, across = 0, height = 0, width = 0] = windows.shape;
      return reshape(permute(windows, [0, 1, 4, 5, 2, 3]), [
        size,
        channels * height * width,
        down * across,
      ]);
    });
  },
);

/**
 * Combines patches as im2col() returns them, [N, C * kernel height * kernel width, patches] or without N, to images of
 * `outputSize`; overlapping patches are added. PyTorch calls it torch.nn.functional.fold.
 */
export const col2im = /* @__PURE__ */ composite(
  "col2im",
  "input:tensor outputSize:ints kernelSize:ints dilation:ints=1 padding:ints=0 stride:ints=1",
  (input, outputSize, kernelSize, dilation, padding, stride) => {
    const [height = 0, width = 0] = perAxis("col2im", "outputSize", outputSize, 2);
    const [rows, columns] = patchAxes("col2im", kernelSize, dilation, padding, stride);
    const down = patchesAlong("col2im", height, rows);
    const across = patchesAlong("col2im", width, columns);
    return inBatch("col2im", input, 3, (batch) => {
      const [size = 0, elements = 0, patches = 0] = batch.shape;
      checkColumns(elements, rows.size * columns.size, patches, down * across);
      const channels = elements / (rows.size * columns.size);
      const taps = reshape(batch, [size, channels, rows.size, columns.size, down, across]);
      const windows = permute(taps, [0, 1, 4, 2, 5, 3]);
      const lines = addedAlong(windows, 4, width, columns);
      return addedAlong(lines, 2, height, rows);
    });
  },
);

/** The arrangement of patches along one axis. */
interface PatchAxis {
  readonly size: number;
  readonly spread: number;
  readonly edge: number;
  readonly step: number;
}

function patchAxes(
  where: string,
  kernelSize: Ints,
  dilation: Ints,
  padding: Ints,
  stride: Ints,
): [PatchAxis, PatchAxis] {
  const sizes = perAxis(where, "kernelSize", kernelSize, 2);
  const spreads = perAxis(where, "dilation", dilation, 2);
  const edges = perAxis(where, "padding", padding, 2);
  const steps = perAxis(where, "stride", stride, 2);
  const named = { kernel_size: sizes, dilation: spreads, stride: steps };
  for (const [name, values] of Object.entries(named)) {
    if (values.every((value) => value > 0)) continue;
    const reason = `${name}: expected numbers above 0, got [${values.join(", ")}].`;
    fail("InvalidArgument", where, reason);
  }
  if (edges.some((edge) => edge < 0)) {
    const reason = `padding: expected 0 or more, got [${edges.join(", ")}].`;
    fail("InvalidArgument", where, reason);
  }
  const along = (d: number): PatchAxis => ({
    size: sizes[d] ?? 1,
    spread: spreads[d] ?? 1,
    edge: edges[d] ?? 0,
    step: steps[d] ?? 1,
  });
  return [along(0), along(1)];
}

// The number of patches along an axis.
function patchesAlong(where: string, length: number, axis: PatchAxis): number {
  const slack = length + 2 * axis.edge - spanOf(axis.size, axis.spread);
  if (slack >= 0) return Math.floor(slack / axis.step) + 1;
  const padded = `a size of ${length} with a padding of ${axis.edge} on each side`;
  return fail(
    "ShapeMismatch",
    where,
    `a patch spans ${spanOf(axis.size, axis.spread)} elements, more than ${padded}.`,
  );
}

function windowsAlong(input: Tensor, axis: number, { size, step, spread }: PatchAxis): Tensor {
  return windowsOf(input, axis, size, step, spread);
}

function addedAlong(windows: Tensor, axis: number, length: number, patch: PatchAxis): Tensor {
  const { edge, step, spread } = patch;
  return cropped(overlapAdd(windows, axis, length + 2 * edge, step, spread), axis, edge, length);
}

function checkColumns(elements: number, area: number, patches: number, expected: number): void {
  if (elements % area !== 0) {
    const reason = `input: expected a size divisible by the area of kernelSize, ${area}, in dimension 1`;
    fail("ShapeMismatch", "col2im", `${reason}, got ${elements}.`);
  }
  if (patches === expected) return;
  const reason = `input: expected ${expected} patches in dimension 2 for this outputSize`;
  fail("ShapeMismatch", "col2im", `${reason}, got ${patches}.`);
}
