// Pictures of a page as tensors, and tensors on a canvas. On a device of this thread, they never come to the CPU.

import { isPlainObject, readOptions } from "../arguments/read.js";
import { count, type Options, oneOrMore, Rule } from "../arguments/rule.js";
import {
  cat,
  clamp,
  contiguous,
  div,
  empty,
  expand,
  interpolate,
  mul,
  narrow,
  ones,
  pad,
  permute,
  reshape,
  round,
  select,
  sub,
  sum,
  unsqueeze,
} from "../generated/ops.js";
import { module, native } from "../runtime/bridge/bridge.js";
import { describe, EdgeGradError, fail } from "../runtime/errors/errors.js";
import { builtInName } from "../runtime/host/realm.js";
import { type Device, deviceRule } from "../tensor/dtype.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { tensor as makeTensor } from "./create.js";
import { placeOf, untilAnswered, untilSure } from "./gpu_buffers.js";
import { convert } from "./to.js";

/** The sizes of a picture in pixels. */
interface Extent {
  readonly width: number;
  readonly height: number;
}

/**
 * An ImageBitmap, HTMLVideoElement, HTMLCanvasElement, OffscreenCanvas, HTMLImageElement, VideoFrame or ImageData, or an object with
 * the properties of an ImageData.
 */
export type PictureSource = object;

/** The mean and the standard deviation of each channel, or of all of them. */
export interface PictureNormalization {
  /** What is subtracted from the values from 0 to 1. */
  readonly mean: number | readonly number[];
  /** What they are divided by then. */
  readonly std: number | readonly number[];
}

const kNormalization = new Rule<PictureNormalization>(
  "an object { mean, std } of numbers, or arrays with one for each channel",
  (value) => {
    const { mean, std, ...others } = (isPlainObject(value) ? value : {}) as Record<string, unknown>;
    const areAll = (given: unknown, accepts: (number: number) => boolean) =>
      [given].flat().every((value) => Number.isFinite(value) && accepts(value as number));
    return (
      Object.keys(others).length === 0 &&
      areAll(mean, () => true) &&
      areAll(std, (value) => value !== 0)
    );
  },
);

const kFromOptions = {
  /** Height and width of the result, or one number for both; default: those of the picture. */
  size: oneOrMore(count).optional(),
  /** How the values from 0 to 1 are normalized; default: not at all. */
  normalize: kNormalization.optional(),
  /** 3 for RGB, 4 with alpha, 1 for its brightness; default 3. */
  channels: new Rule<number>("1, 3 or 4", (value) => [1, 3, 4].includes(value as number)).or(3),
  /** The device of the result; default "cpu". */
  device: deviceRule.or("cpu"),
};

/** Options of `fromImage`. */
export type FromImageOptions = Options<typeof kFromOptions>;

// Of rows in textures and buffers.
const kRowUnit = 256;

/** What brightness has of red, green and blue (ITU-R BT.601). */
const kBrightness = [0.2989, 0.587, 0.114];

/**
 * A picture as it is now: a float32 tensor [channels, height, width] of numbers from 0 to 1. On webgpu, if the engine computes on a device
 * of this thread, the picture goes there without the CPU; else its bytes are read from a canvas and transferred.
 */
export function fromImage(source: PictureSource, options?: FromImageOptions): Tensor {
  const where = "fromImage";
  const { size, normalize, channels, device } = readOptions(where, kFromOptions, [options]);
  const extent = extentOf(where, source);
  const sizes = size === undefined ? undefined : [size, size].flat().slice(0, 2);
  if (Array.isArray(size) && size.length !== 2)
    fail("InvalidArgument", where, `size: expected height and width, got ${describe(size)}.`);
  for (const [name, given] of Object.entries(normalize ?? {}))
    if (Array.isArray(given) && given.length !== channels)
      fail(
        "InvalidArgument",
        where,
        `normalize.${name}: expected a number for each of ${channels} channels, got ${describe(given)}.`,
      );
  native.threadCount(); // throws unless the engine runs
  return scope(() => {
    const pixels = pixelsOf(where, source, extent, device);
    let x = permute(div(convert(pixels, ["float32"]), 255), [2, 0, 1]);
    if (channels === 1) {
      const weights = makeTensor(kBrightness, { device, shape: [3, 1, 1] });
      x = sum(mul(narrow(x, 0, 0, 3), weights), 0, true);
    } else x = narrow(x, 0, 0, channels);
    if (sizes !== undefined) x = resized(x, sizes as [number, number]);
    if (normalize !== undefined) {
      const each = (given: number | readonly number[]) =>
        typeof given === "number" ? given : makeTensor(given, { device, shape: [channels, 1, 1] });
      x = div(sub(x, each(normalize.mean)), each(normalize.std));
    }
    return contiguous(x);
  });
}

// Averages where pixels become fewer, and interpolates where they become more.
function resized(x: Tensor, [height, width]: readonly [number, number]): Tensor {
  const [, oldHeight = 0, oldWidth = 0] = x.shape;
  if (oldHeight === height && oldWidth === width) return x;
  const isSmaller = height <= oldHeight && width <= oldWidth;
  const mode = isSmaller ? "area" : "bilinear";
  return reshape(interpolate(unsqueeze(contiguous(x), 0), [height, width], { mode }), [
    -1,
    height,
    width,
  ]);
}

// Returns the pixels [height, width, 4] as uint8.
function pixelsOf(
  where: string,
  source: PictureSource,
  { width, height }: Extent,
  device: Device,
): Tensor {
  const shape = [height, width, 4];
  const exchange = device === "webgpu" ? module?.gpuPlayer?.exchange : undefined;
  if (exchange === undefined || isImageData(source)) {
    const data = isImageData(source) ? source.data : readBack(where, source, { width, height });
    return makeTensor(Uint8Array.from(data), { shape, device });
  }
  const rowBytes = kRowUnit * Math.ceil((4 * width) / kRowUnit);
  const rows = empty([height, rowBytes], { dtype: "uint8", device });
  const place = placeOf(where, rows, false);
  native.gpuPlay();
  const size = [width, height, rowBytes] as const;
  try {
    exchange.importPicture(place, where, source, size);
  } catch {
    // Not every browser copies every kind of source; it says why not when it cannot draw that either.
    exchange.importPicture(place, where, canvasWith(where, source, { width, height }), size);
  }
  return reshape(narrow(rows, 1, 0, 4 * width), shape);
}

interface ImageDataLike extends Extent {
  readonly data: Uint8ClampedArray | Uint8Array;
}

function isImageData(source: object): source is ImageDataLike {
  const { data } = source as Partial<ImageDataLike>;
  return /^Uint8(?:Clamped)?Array$/.test(builtInName(data));
}

// The names of the sizes of different sources; those of a VideoFrame consider its rotation.
const kSizes = [
  ["videoWidth", "videoHeight"],
  ["displayWidth", "displayHeight"],
  ["naturalWidth", "naturalHeight"],
  ["width", "height"],
] as const;

function extentOf(where: string, source: unknown): Extent {
  const given = (typeof source === "object" ? source : null) as Record<string, unknown> | null;
  for (const [across, down] of given === null ? [] : kSizes) {
    const [width, height] = [given?.[across], given?.[down]];
    if (!Number.isInteger(width) || !Number.isInteger(height)) continue;
    const extent = { width: width as number, height: height as number };
    checkPicture(where, source as object, extent);
    return extent;
  }
  fail(
    "InvalidArgument",
    where,
    `source: expected an ImageBitmap, HTMLVideoElement, HTMLCanvasElement, VideoFrame or ImageData, got ${describe(source)}.`,
  );
}

function checkPicture(where: string, source: object, { width, height }: Extent): void {
  if (width < 1 || height < 1)
    fail(
      "InvalidArgument",
      where,
      `source: it has no picture, its size is ${width} x ${height}: it is not loaded yet, or closed.`,
    );
  if (isImageData(source) && source.data.length !== 4 * width * height)
    fail(
      "InvalidArgument",
      where,
      `source: expected ${4 * width * height} bytes of ${width} x ${height} pixels, got ${source.data.length}.`,
    );
}

interface Canvas extends Extent {
  width: number;
  height: number;
  getContext(kind: string, options?: object): object | null;
}

interface Context2D {
  drawImage(source: object, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): ImageDataLike;
  putImageData(data: object, x: number, y: number): void;
}

interface Page {
  readonly OffscreenCanvas?: new (width: number, height: number) => Canvas;
  readonly ImageData?: new (data: Uint8ClampedArray, width: number, height: number) => object;
}

// Returns the bytes of a picture by way of a canvas.
function readBack(where: string, source: PictureSource, extent: Extent) {
  const context = canvasWith(where, source, extent, { willReadFrequently: true }).getContext("2d");
  try {
    return (context as Context2D).getImageData(0, 0, extent.width, extent.height).data;
  } catch (error) {
    return refuse(where, error);
  }
}

// Returns a canvas with a picture.
function canvasWith(where: string, source: PictureSource, { width, height }: Extent, options = {}) {
  const { OffscreenCanvas } = globalThis as unknown as Page;
  if (OffscreenCanvas === undefined)
    fail("InvalidArgument", where, "source: without OffscreenCanvas, only ImageData can be read.");
  try {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d", options) as Context2D;
    context.drawImage(source, 0, 0, width, height);
    return canvas;
  } catch (error) {
    return refuse(where, error);
  }
}

function refuse(where: string, error: unknown): never {
  fail("InvalidArgument", where, `source: the browser refuses to read it: ${reasonOf(error)}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : describe(error);
}

/**
 * Shows a tensor [channels, height, width] or [height, width] on a canvas, whose size becomes that of the picture. One channel is gray, three
 * are RGB, four RGB with alpha. The numbers are uint8, or real from 0 to 1; others are clamped. A tensor on webgpu is drawn without the CPU
 * if the engine's device belongs to this thread and the canvas has no other context.
 */
export async function toCanvas(tensor: Tensor, canvas: object): Promise<void> {
  const where = "toCanvas";
  tensorRule.check(where, "tensor", tensor);
  const target = canvas as Partial<Canvas> | null;
  if (typeof target !== "object" || typeof target?.getContext !== "function")
    fail("InvalidArgument", where, `canvas: expected a canvas, got ${describe(canvas)}.`);
  const { width, height } = shownExtent(where, tensor);
  const exchange = tensor.device === "webgpu" ? module?.gpuPlayer?.exchange : undefined;
  const context = exchange && (target as Canvas).getContext("webgpu");
  const isHere = exchange !== undefined && context != null;
  const unit = isHere ? kRowUnit / 4 : 1;
  const rowPixels = unit * Math.ceil(width / unit);
  const bytes = scope(() => rgbaOf(tensor.detach(), rowPixels - width, isHere));
  try {
    if (!isHere) {
      const data = await bytes.data();
      paint(where, target as Canvas, data as Uint8Array, { width, height });
      return;
    }
    resize(target as Canvas, { width, height });
    const size = [width, height, 4 * rowPixels] as const;
    const place = placeOf(where, bytes, false);
    native.gpuPlay();
    const show = (isSure: boolean) =>
      untilAnswered(where, exchange.show(place, context, size, isSure)).catch((error) => {
        if (EdgeGradError.isOne(error)) throw error;
        fail(
          "InvalidArgument",
          where,
          `canvas: the browser refuses to draw on it: ${reasonOf(error)}.`,
        );
      });
    if (await show(false)) return;
    await untilSure(where, bytes);
    await show(true);
  } finally {
    bytes.dispose();
  }
}

function shownExtent(where: string, { shape, dtype }: Tensor): Extent {
  const [height = 0, width = 0] = shape.slice(-2);
  const channels = shape.length === 3 ? shape[0] : 1;
  if (![2, 3].includes(shape.length) || ![1, 3, 4].includes(channels ?? 0) || width * height === 0)
    fail(
      "ShapeMismatch",
      where,
      `expected a tensor [height, width] or [channels, height, width] with 1, 3 or 4 channels, got the shape [${shape}].`,
    );
  if (!/^(float|bfloat|uint8|bool)/.test(dtype))
    fail("DtypeMismatch", where, `expected real numbers from 0 to 1, or uint8, got ${dtype}.`);
  return { width, height };
}

// Returns the bytes [height, width + padding, 4], with colors multiplied by alpha if `isMultiplied`.
function rgbaOf(tensor: Tensor, padding: number, isMultiplied: boolean): Tensor {
  const { shape, device } = tensor;
  const [height = 0, width = 0] = shape.slice(-2);
  const isBytes = tensor.dtype === "uint8";
  const plain = convert(reshape(tensor, [-1, height, width]), ["float32"]);
  const values = clamp(isBytes ? div(plain, 255) : plain, 0, 1);
  const channels = values.shape[0] as number;
  const alpha =
    channels === 4
      ? unsqueeze(select(values, 0, 3), 0)
      : ones([1, height, width], { dtype: "float32", device });
  const colors = channels === 1 ? expand(values, [3, height, width]) : narrow(values, 0, 0, 3);
  const shown = isMultiplied && channels === 4 ? mul(colors, alpha) : colors;
  const all = pad(cat([shown, alpha], 0), [0, padding]);
  return contiguous(permute(convert(round(mul(all, 255)), ["uint8"]), [1, 2, 0]));
}

function resize(canvas: Canvas, { width, height }: Extent): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function paint(where: string, canvas: Canvas, bytes: Uint8Array, extent: Extent): void {
  const context = canvas.getContext("2d") as Context2D | null;
  const { ImageData } = globalThis as unknown as Page;
  if (context === null || ImageData === undefined)
    fail(
      "InvalidArgument",
      where,
      "canvas: it has no 2d context: it has another one, which this tensor cannot be shown with.",
    );
  resize(canvas, extent);
  const { width, height } = extent;
  context.putImageData(new ImageData(Uint8ClampedArray.from(bytes), width, height), 0, 0);
}
