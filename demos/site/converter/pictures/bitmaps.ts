// Digits as pictures.

import { kPixels, kSide } from "../../digits/digits.js";

/** A square of gray pixels as a picture: ink is white on black, as in MNIST. */
export function bitmapOf(image: Uint8Array): Promise<ImageBitmap> {
  const pixels = new ImageData(kSide, kSide);
  for (let i = 0; i < kPixels; i++) {
    pixels.data.fill(image[i] as number, 4 * i, 4 * i + 3);
    pixels.data[4 * i + 3] = 255;
  }
  return createImageBitmap(pixels);
}
