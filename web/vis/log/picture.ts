// Converts tensors to images of bytes.

import { type Tensor, Tensor as TensorClass } from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { afterwards, type Later, numbersOf } from "./values.js";

/** An image as bytes. */
export interface Picture {
  /** The number of rows. */
  readonly height: number;
  /** The number of pixels in a row. */
  readonly width: number;
  /** 1 for gray, 3 for RGB, 4 for RGBA. */
  readonly channels: 1 | 3 | 4;
  /** The pixels in row order, with interleaved channels. */
  readonly data: Uint8Array;
}

/** The order of the dimensions of an image: height, width, and channels if there are several. */
export type PictureLayout = "CHW" | "HWC" | "HW";

/** The order of the dimensions of several images. */
export type PicturesLayout = "NCHW" | "NHWC" | "NHW";

/** The limit on pixels of an image. */
const kMostPixels = 2 ** 26;

/** The pixels between the images of a grid. */
const kGap = 2;

/** Returns the image in a tensor: uint8 values as they are, other dtypes with values from 0 to 1. A promise for a tensor on another device than the CPU. */
export function pictureOf(where: string, image: Tensor, layout: PictureLayout): Later<Picture> {
  return afterwards(picturesOf(where, "image", image, layout, `N${layout}`), firstOf);
}

const firstOf = (pictures: readonly Picture[]) => pictures[0] as Picture;

/** Returns a grid of images with `columns` images per row; null for about as many columns as rows. */
export function gridOf(
  where: string,
  images: Tensor,
  layout: PicturesLayout,
  columns: number | null,
): Later<Picture> {
  if (columns !== null && !(Number.isSafeInteger(columns) && columns > 0))
    return refuse(where, "columns", "a positive integer", columns);
  return afterwards(picturesOf(where, "images", images, layout, layout), (pictures) =>
    joinPictures(where, pictures, columns ?? Math.ceil(Math.sqrt(pictures.length))),
  );
}

function picturesOf(
  where: string,
  name: string,
  images: Tensor,
  layout: string,
  orderOfAll: string,
): Later<Picture[]> {
  if (!(images instanceof TensorClass)) return refuse(where, name, "a tensor", images);
  const shape = orderOfAll.length > layout.length ? [1, ...images.shape] : images.shape;
  if (!/^N(?:CHW|HWC|HW)$/.test(orderOfAll))
    return refuse(where, "layout", `one of ${kLayouts}`, layout);
  if (shape.length !== orderOfAll.length)
    return refuse(where, name, `the dimensions ${layout}`, `shape [${images.shape}]`);
  const sizeOf = (letter: string) => shape[orderOfAll.indexOf(letter)] ?? 1;
  const [count, channels] = [sizeOf("N"), sizeOf("C")];
  const [height, width] = [sizeOf("H"), sizeOf("W")];
  if (channels !== 1 && channels !== 3 && channels !== 4)
    return refuse(where, name, "1, 3 or 4 channels", `shape [${images.shape}] as ${layout}`);
  const pixels = count * height * width;
  if (pixels === 0 || pixels > kMostPixels)
    return refuse(where, name, `1 to ${kMostPixels} pixels`, `shape [${images.shape}]`);
  const scale = images.dtype === "uint8" ? 1 : 255;
  const isChannelsFirst = orderOfAll.indexOf("C") === 1;
  return afterwards(numbersOf(where, name, images), (values) =>
    Array.from({ length: count }, (_, i) => {
      const data = new Uint8Array(height * width * channels);
      const start = i * data.length;
      for (let at = 0; at < data.length; at++) {
        const [pixel, channel] = [Math.floor(at / channels), at % channels];
        const from = isChannelsFirst ? channel * height * width + pixel : at;
        data[at] = byteOf((values[start + from] as number) * scale);
      }
      return { height, width, channels, data };
    }),
  );
}

const kLayouts = "CHW, HWC and HW, with an N before for several pictures";

// NaN is black.
function byteOf(value: number): number {
  return Math.round(Math.min(255, Math.max(0, Number.isNaN(value) ? 0 : value)));
}

function joinPictures(where: string, pictures: readonly Picture[], columns: number): Picture {
  const { height, width, channels } = firstOf(pictures);
  const across = Math.min(columns, pictures.length);
  const down = Math.ceil(pictures.length / across);
  const whole = {
    height: down * (height + kGap) - kGap,
    width: across * (width + kGap) - kGap,
    channels,
  };
  if (whole.height * whole.width > kMostPixels)
    return refuse(
      where,
      "images",
      `1 to ${kMostPixels} pixels in all`,
      `${pictures.length} pictures`,
    );
  const data = new Uint8Array(whole.height * whole.width * channels);
  pictures.forEach((picture, i) => {
    const left = (i % across) * (width + kGap);
    const top = Math.floor(i / across) * (height + kGap);
    for (let row = 0; row < height; row++) {
      const line = picture.data.subarray(row * width * channels, (row + 1) * width * channels);
      data.set(line, ((top + row) * whole.width + left) * channels);
    }
  });
  return { ...whole, data };
}
