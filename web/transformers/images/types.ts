// What image processors take and return.

import type * as eg from "edgegrad";

/** An image: the ImageData of a canvas, another object with three or four numbers for each pixel, or a tensor [3, height, width]; colors are from 0 to 255. */
export type ImageLike =
  | {
      /** The colors of the pixels, row by row. */
      readonly data: ArrayLike<number>;
      /** The number of pixels of a row. */
      readonly width: number;
      /** The number of rows. */
      readonly height: number;
    }
  | eg.Tensor;

/** Options of `process`. */
export interface ProcessOptions {
  /** The device of the result; default "cpu". */
  readonly device?: eg.Device | undefined;
}

/** Turns images into the inputs of a model. */
export interface ImageProcessor {
  /** Resizes, crops and normalizes images: [images, 3, height, width]. Throws InvalidArgument for images that are smaller than what is cropped. */
  process(images: ImageLike | readonly ImageLike[], options?: ProcessOptions): eg.Tensor;
}
