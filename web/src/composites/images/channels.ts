// What moves between the channels of an image and its pixels, or between its channels. Where nothing moves the result is a copy
// all the same: none is a view.

import { clone, permute, reshape, transpose } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/** Images [..., C r², H, W] as larger ones of fewer channels, [..., C, H r, W r], where r is `upscaleFactor`. */
export const pixelShuffle: {
  (input: Tensor, upscaleFactor: number): Tensor;
  (input: Tensor, options: { upscaleFactor: number }): Tensor;
} = /* @__PURE__ */ composite(
  "pixelShuffle",
  "input:tensor upscaleFactor:int",
  (input: Tensor, factor: number) => {
    const { before, size, channels, height, width } = imagesOf("pixelShuffle", input, factor);
    checkDivides("pixelShuffle", "channels", channels, factor * factor);
    if (factor === 1) return clone(input);
    const kept = channels / (factor * factor);
    const blocks = reshape(input, [size, kept, factor, factor, height, width]);
    const pixels = permute(blocks, [0, 1, 4, 2, 5, 3]);
    return reshape(pixels, [...before, kept, height * factor, width * factor]);
  },
);

/** Images [..., C, H r, W r] as smaller ones of more channels, [..., C r², H, W], where r is `downscaleFactor`. */
export const pixelUnshuffle: {
  (input: Tensor, downscaleFactor: number): Tensor;
  (input: Tensor, options: { downscaleFactor: number }): Tensor;
} = /* @__PURE__ */ composite(
  "pixelUnshuffle",
  "input:tensor downscaleFactor:int",
  (input: Tensor, factor: number) => {
    const { before, size, channels, height, width } = imagesOf("pixelUnshuffle", input, factor);
    checkDivides("pixelUnshuffle", "height", height, factor);
    checkDivides("pixelUnshuffle", "width", width, factor);
    if (factor === 1) return clone(input);
    const [rows, columns] = [height / factor, width / factor];
    const blocks = reshape(input, [size, channels, rows, factor, columns, factor]);
    const pixels = permute(blocks, [0, 1, 3, 5, 2, 4]);
    return reshape(pixels, [...before, channels * factor * factor, rows, columns]);
  },
);

/** The channels [N, C, ...] dealt out: as `groups` rows of C / groups, read by columns. */
export const channelShuffle: {
  (input: Tensor, groups: number): Tensor;
  (input: Tensor, options: { groups: number }): Tensor;
} = /* @__PURE__ */ composite(
  "channelShuffle",
  "input:tensor groups:int",
  (input: Tensor, groups: number) => {
    const [size = 0, channels = 0, ...rest] = input.shape;
    if (input.ndim < 3) {
      const told = `expects input with > 2 dims, but got input with sizes [${input.shape.join(", ")}].`;
      fail("ShapeMismatch", "channelShuffle", told);
    }
    checkPositive("channelShuffle", groups);
    checkDivides("channelShuffle", "channels", channels, groups);
    if (groups === 1 || groups === channels) return clone(input);
    const rows = reshape(input, [size, groups, channels / groups, ...rest]);
    return reshape(transpose(rows, 1, 2), input.shape);
  },
);

interface Images {
  readonly before: number[];
  /** How many images there are. */
  readonly size: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

function imagesOf(where: string, input: Tensor, factor: number): Images {
  if (input.ndim < 3) {
    const told = `expects input to have at least 3 dimensions, but got input with ${input.ndim} dimension(s).`;
    fail("ShapeMismatch", where, told);
  }
  checkPositive(where, factor);
  const before = input.shape.slice(0, -3);
  const [channels = 0, height = 0, width = 0] = input.shape.slice(-3);
  return { before, size: before.reduce((a, b) => a * b, 1), channels, height, width };
}

function checkPositive(where: string, factor: number): void {
  if (factor <= 0) fail("InvalidArgument", where, `expects a positive number, but got ${factor}.`);
}

function checkDivides(where: string, what: string, size: number, by: number): void {
  if (size % by === 0) return;
  fail("ShapeMismatch", where, `expects ${what} to be divisible by ${by}, but got ${size}.`);
}
