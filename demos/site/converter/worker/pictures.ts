// Pictures as the input of a model.

import * as eg from "edgegrad";
import type { Pictures, Scaling } from "../messages.js";
import type { PictureFormat } from "../pictures/format.js";

// The mean and the deviation of red, green and blue that models of ImageNet are used with.
const kMeans = [0.485, 0.456, 0.406];
const kDeviations = [0.229, 0.224, 0.225];
const kUsualBatch = 16;

/** Returns functions that make the batches of pictures; a batch of fixed size is filled up with its last picture. */
export function batchesOf(pictures: Pictures, format: PictureFormat): (() => eg.Tensor)[] {
  const { pixels } = pictures;
  const size = format.batch ?? kUsualBatch;
  const count = Math.ceil(pixels.length / size);
  return Array.from({ length: count }, (_, i) => () => {
    const some = pixels.slice(i * size, (i + 1) * size);
    while (format.batch !== null && some.length < size)
      some.push(some.at(-1) as Pictures["pixels"][number]);
    return tensorOf(some, pictures, format);
  });
}

function tensorOf(
  pixels: readonly Uint8ClampedArray[],
  { scaling, isInverted }: Pictures,
  { height, width, channels, layout }: PictureFormat,
): eg.Tensor {
  const plane = height * width;
  const data = new Float32Array(pixels.length * channels * plane);
  pixels.forEach((picture, n) => {
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < plane; i++) {
        const byte = channels === 1 ? gray(picture, 4 * i) : (picture[4 * i + c] as number);
        const at = layout === "last" ? i * channels + c : c * plane + i;
        data[n * channels * plane + at] = scaled(isInverted ? 255 - byte : byte, scaling, c);
      }
    }
  });
  const count = pixels.length;
  const shapes = {
    first: [count, channels, height, width],
    last: [count, height, width, channels],
    flat: [count, plane],
  };
  return eg.tensor(data, { shape: shapes[layout] });
}

function gray(picture: Uint8ClampedArray, at: number): number {
  const [red = 0, green = 0, blue = 0] = picture.subarray(at, at + 3);
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

function scaled(byte: number, scaling: Scaling, channel: number): number {
  const share = byte / 255;
  if (scaling === "unit") return share;
  if (scaling === "signed") return 2 * share - 1;
  if (scaling === "bytes") return byte;
  return (share - (kMeans[channel] as number)) / (kDeviations[channel] as number);
}
