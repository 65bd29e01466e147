// Pictures of any size as the pixels that a model takes, and digits as pictures.

import { kPixels, kSide } from "../../digits/digits.js";

/** A square of grey pixels as a picture: ink is white on black, as in MNIST. */
export function bitmapOf(image: Uint8Array): Promise<ImageBitmap> {
  const pixels = new ImageData(kSide, kSide);
  for (let i = 0; i < kPixels; i++) {
    pixels.data.fill(image[i] as number, 4 * i, 4 * i + 3);
    pixels.data[4 * i + 3] = 255;
  }
  return createImageBitmap(pixels);
}

/** The pixels of a picture in another size; of one that is longer, the middle. */
export function pixelsOf(
  picture: ImageBitmap,
  width: number,
  height: number,
): Uint8ClampedArray<ArrayBuffer> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const scale = Math.max(width / picture.width, height / picture.height);
  const [wide, high] = [picture.width * scale, picture.height * scale];
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, (width - wide) / 2, (height - high) / 2, wide, high);
  return context.getImageData(0, 0, width, height).data;
}
