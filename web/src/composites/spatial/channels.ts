// Rearranging the channels and pixels of images. The result is always a copy and never a view, even if nothing moves.

import { clone, permute, reshape, transpose } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/** Rearranges images [..., C r², H, W] into larger ones with fewer channels, [..., C, H r, W r], where r is `upscaleFactor`. */
export const pixelShuffle = /* @__PURE__ */ composite(
  "pixelShuffle",
  "input:tensor upscaleFactor:int",
  (input, upscaleFactor) => {
    const r = upscaleFactor;
    const { before, size, channels, height, width } = imagesOf("pixelShuffle", input, r);
    checkDivides("pixelShuffle", "channels", channels, r * r);
    if (r === 1) return clone(input);
    const kept = channels / (r * r);
    const blocks = reshape(input, [size, kept, r, r, height, width]);
    const pixels = permute(blocks, [0, 1, 4, 2, 5, 3]);
    return reshape(pixels, [...before, kept, height * r, width * r]);
  },
);

/** Rearranges images [..., C, H r, W r] into smaller ones with more channels, [..., C r², H, W], where r is `downscaleFactor`. */
export const pixelUnshuffle = /* @__PURE__ */ composite(
  "pixelUnshuffle",
  "input:tensor downscaleFactor:int",
  (input, downscaleFactor) => {
    const r = downscaleFactor;
    const { before, size, channels, height, width } = imagesOf("pixelUnshuffle", input, r);
    checkDivides("pixelUnshuffle", "height", height, r);
    checkDivides("pixelUnshuffle", "width", width, r);
    if (r === 1) return clone(input);
    const [rows, columns] = [height / r, width / r];
    const blocks = reshape(input, [size, channels, rows, r, columns, r]);
    const pixels = permute(blocks, [0, 1, 3, 5, 2, 4]);
    return reshape(pixels, [...before, channels * r * r, rows, columns]);
  },
);

/** Shuffles the channels of [N, C, ...]: arranges them in `groups` rows of C / groups and reads them by columns. */
export const channelShuffle = /* @__PURE__ */ composite(
  "channelShuffle",
  "input:tensor groups:int",
  (input, groups) => {
    const [size = 0, channels = 0, ...rest] = input.shape;
    if (input.ndim < 3) {
      const reason = `input: expected three or more dimensions, got [${input.shape.join(", ")}].`;
      fail("ShapeMismatch", "channelShuffle", reason);
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
  /** The number of images. */
  readonly size: number;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
}

function imagesOf(where: string, input: Tensor, factor: number): Images {
  if (input.ndim < 3) {
    const reason = `input: expected three or more dimensions, got [${input.shape.join(", ")}].`;
    fail("ShapeMismatch", where, reason);
  }
  checkPositive(where, factor);
  const before = input.shape.slice(0, -3);
  const [channels = 0, height = 0, width = 0] = input.shape.slice(-3);
  return { before, size: before.reduce((a, b) => a * b, 1), channels, height, width };
}

function checkPositive(where: string, factor: number): void {
  if (factor <= 0) fail("InvalidArgument", where, `expected a number above 0, got ${factor}.`);
}

function checkDivides(where: string, what: string, size: number, by: number): void {
  if (size % by === 0) return;
  fail("ShapeMismatch", where, `input: expected ${what} to be divisible by ${by}, got ${size}.`);
}
