// Draws matrices as images.

import type { Matrix } from "../log/matrix.js";
import type { Picture } from "../log/picture.js";

/** The approximate pixels of the longer side, and the maximum of an element. */
const kSide = 256;
const kMostOfElement = 16;

/** Returns a gray image of a matrix, white at its largest elements. */
export function heatOf({ rows, columns, values }: Matrix): Picture {
  const size = Math.max(1, Math.min(kMostOfElement, Math.floor(kSide / Math.max(rows, columns))));
  const finite = values.filter(Number.isFinite);
  const least = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [height, width] = [rows * size, columns * size];
  const data = new Uint8Array(height * width);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = values[Math.floor(y / size) * columns + Math.floor(x / size)] as number;
      data[y * width + x] = ((value - least) / (most - least || 1)) * 255;
    }
  return { height, width, channels: 1, data };
}
