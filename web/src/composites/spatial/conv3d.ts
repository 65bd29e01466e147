// Convolutions of volumes. The taps of a kernel along the depth become channels of a convolution of images, with one image per
// output position along the depth.

import type { Ints } from "../../dispatch/types.js";
import {
  add,
  contiguous,
  conv2d,
  convTranspose2d,
  pad,
  permute,
  reshape,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { cropped, inBatch, overlapAdd, perAxis, spanOf, windowsOf } from "../geometry.js";
import {
  checkBias,
  checkChannels,
  checkDepth,
  checkExtra,
  checkKernel,
  positives,
} from "./conv_checks.js";

type Padding = Ints | "same" | "valid";

/**
 * Convolution of volumes: input [N, C, D, H, W] or [C, D, H, W], weight [out channels, C / groups, kD, kH, kW]. `padding` may
 * be "valid" (none) or "same" (so that the output has the size of the input; only for stride 1).
 */
export const conv3d = /* @__PURE__ */ composite(
  "conv3d",
  "input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:padding=0 dilation:ints=1 groups:int=1",
  (input, weight, bias, stride, padding, dilation, groups) => {
    checkKernel("conv3d", weight);
    const strides = positives("conv3d", "stride", stride);
    const dilations = positives("conv3d", "dilation", dilation);
    const [step = 1, ...steps] = strides;
    const [spread = 1, ...spreads] = dilations;
    const [depth = 1] = weight.shape.slice(2);
    const [front, back, edges] = paddingOf(padding, step, spanOf(depth, spread));
    return inBatch("conv3d", input, 5, (batch) => {
      checkChannels("conv3d", batch, weight, groups, groups * (weight.shape[1] ?? 0));
      checkDepth("conv3d", (batch.shape[2] ?? 0) + front + back, spanOf(depth, spread));
      const [padded, count] = depthTaps(batch, [front, back], depth, step, spread);
      const taps = foldTaps(weight, 1);
      const images = conv2d(padded, taps, bias, steps, edges, spreads, groups);
      return unfoldDepth(images, batch.shape[0] ?? 0, count);
    });
  },
);

/** The transpose of conv3d(): input [N, C, D, H, W] or [C, D, H, W], weight [C, out channels / groups, kD, kH, kW]. */
export const convTranspose3d = /* @__PURE__ */ composite(
  "convTranspose3d",
  "input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:ints=0 outputPadding:ints=0 groups:int=1 dilation:ints=1",
  (input, weight, bias, stride, padding, outputPadding, groups, dilation) => {
    const where = "convTranspose3d";
    checkKernel(where, weight);
    const [step = 1, ...steps] = positives(where, "stride", stride);
    const [spread = 1, ...spreads] = positives(where, "dilation", dilation);
    const [edge = 0, ...edges] = perAxis(where, "padding", padding, 3);
    const [more = 0, ...extra] = perAxis(where, "outputPadding", outputPadding, 3);
    if (edge < 0) fail("InvalidArgument", where, `padding: expected 0 or more, got ${edge}.`);
    checkExtra(where, more, step, spread);
    return inBatch(where, input, 5, (batch) => {
      checkChannels(where, batch, weight, groups, weight.shape[0] ?? 0);
      checkBias(where, input, bias, (weight.shape[1] ?? 0) * groups);
      const [size = 0, , length = 0, height = 0, width = 0] = batch.shape;
      const flat = reshape(permute(batch, [0, 2, 1, 3, 4]), [
        size * length,
        weight.shape[0] ?? 0,
        height,
        width,
      ]);
      const images = convTranspose2d(
        flat,
        foldTaps(weight, 1),
        null,
        steps,
        edges,
        extra,
        groups,
        spreads,
      );
      const volume = addTaps(images, size, length, weight.shape[2] ?? 1, step, spread, edge, more);
      return bias === null ? contiguous(volume) : add(volume, reshape(bias, [-1, 1, 1, 1]));
    });
  },
);

// [N, C, D, H, W] as images [N * positions, C * taps, H, W], and the number of output positions along the depth.
function depthTaps(
  batch: Tensor,
  [front, back]: readonly [number, number],
  depth: number,
  step: number,
  spread: number,
): [Tensor, number] {
  const padded = front + back > 0 ? pad(batch, [0, 0, 0, 0, front, back]) : batch;
  const windows = windowsOf(padded, 2, depth, step, spread);
  const [size = 0, channels = 0, count = 0, height = 0, width = 0] = windows.shape;
  const images = reshape(permute(windows, [0, 2, 1, 5, 3, 4]), [
    size * count,
    channels * depth,
    height,
    width,
  ]);
  return [images, count];
}

// A kernel whose taps along the depth become channels in axis `axis`.
function foldTaps(weight: Tensor, axis: number): Tensor {
  const { shape } = weight;
  const folded = shape.filter((_, d) => d !== 2);
  folded[axis] = (shape[axis] ?? 0) * (shape[2] ?? 0);
  return reshape(weight, folded);
}

// Reshapes [N * positions, C, H, W] to [N, C, positions, H, W].
function unfoldDepth(images: Tensor, size: number, count: number): Tensor {
  const [, channels = 0, height = 0, width = 0] = images.shape;
  const positions = reshape(images, [size, count, channels, height, width]);
  return contiguous(permute(positions, [0, 2, 1, 3, 4]));
}

// Turns [N * D, C * taps, H, W] into [N, C, positions, H, W] by adding up the contributions of all slices and taps to each
// output position.
function addTaps(
  images: Tensor,
  size: number,
  length: number,
  depth: number,
  step: number,
  spread: number,
  edge: number,
  more: number,
): Tensor {
  const [, channels = 0, height = 0, width = 0] = images.shape;
  const taps = reshape(images, [size, length, channels / depth, depth, height, width]);
  const reach = (length - 1) * step + spanOf(depth, spread);
  const positions = reach - 2 * edge + more;
  if (length === 0 || positions <= 0) {
    fail("ShapeMismatch", "convTranspose3d", `the output would have a depth of ${positions}.`);
  }
  const full = overlapAdd(permute(taps, [0, 2, 1, 3, 4, 5]), 2, reach + more, step, spread);
  return cropped(full, 2, edge, positions);
}

// The padding before and after the depth, and along the other axes as conv2d() takes it.
function paddingOf(
  padding: Padding,
  step: number,
  span: number,
): [number, number, number[] | "same" | "valid"] {
  if (padding === "valid") return [0, 0, padding];
  if (padding === "same") {
    if (step !== 1) {
      const reason = `padding: "same" needs stride 1, got ${step}.`;
      fail("InvalidArgument", "conv3d", reason);
    }
    const front = Math.floor((span - 1) / 2);
    return [front, span - 1 - front, padding];
  }
  const [edge = 0, ...edges] = perAxis("conv3d", "padding", padding, 3);
  if (edge < 0) fail("InvalidArgument", "conv3d", `padding: expected 0 or more, got ${edge}.`);
  return [edge, edge, edges];
}
