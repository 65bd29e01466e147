// Pictures as tensors, and variants of them: what is learned should not depend on the side, the place or the light.

import * as eg from "edgegrad";
import { kSide } from "./backbone/model.mjs";

/** A picture of [64, 64] pixels with red, green, blue and opacity from 0 to 255. */
export type Pixels = Uint8ClampedArray<ArrayBuffer>;

const kPixels = kSide * kSide;
const kShift = 5;

/** Returns pictures as float32 [count, 3, 64, 64] from 0 to 1. */
export function tensorOf(pictures: readonly Pixels[]): eg.Tensor {
  const values = new Float32Array(pictures.length * 3 * kPixels);
  pictures.forEach((picture, i) => {
    for (let channel = 0; channel < 3; channel++) {
      const start = (3 * i + channel) * kPixels;
      for (let at = 0; at < kPixels; at++) {
        values[start + at] = (picture[4 * at + channel] as number) / 255;
      }
    }
  });
  return eg.tensor(values, { shape: [pictures.length, 3, kSide, kSide] });
}

/** Returns six variants of pictures, the pictures themselves first: all first ones, all second ones, and so on. */
export function variantsOf(pictures: eg.Tensor): eg.Tensor {
  const mirrored = pictures.flip([3]);
  const variants = [
    pictures,
    mirrored,
    pictures.roll([kShift, -kShift], [2, 3]),
    mirrored.roll([-kShift, kShift], [2, 3]),
    pictures.mul(0.75),
    mirrored.mul(1.25).clamp(0, 1),
  ];
  return eg.cat(variants, 0);
}
