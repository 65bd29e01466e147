// Turns images into the inputs of models, as preprocessor_config.json says.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { type MatrixFilter, resamplingMatrix } from "../blocks/resample.js";
import { Config, type ConfigValues } from "../config/config.js";
import { checkOptions, kText } from "../options.js";
import type { ImageLike, ImageProcessor, ProcessOptions } from "./types.js";

const kFile = "preprocessor_config.json";
const kWhere = "process";

/** A filter of images. */
type FilterName = MatrixFilter | "bilinear" | "bicubic";

// The numbers that Pillow has for filters.
const kFilters: readonly FilterName[] = ["nearest", "lanczos", "bilinear", "bicubic", "box"];

// The kinds of processors, and whether a size of one number is that of the shorter side.
const kKinds: Readonly<Record<string, boolean>> = {
  BitImageProcessor: true,
  CLIPFeatureExtractor: true,
  CLIPImageProcessor: true,
  DeiTFeatureExtractor: false,
  DeiTImageProcessor: false,
  Gemma3ImageProcessor: false,
  SiglipImageProcessor: false,
  ViTFeatureExtractor: false,
  ViTImageProcessor: false,
};

type Size = { readonly shortest: number } | { readonly height: number; readonly width: number };

/** A processor with the steps of preprocessor_config.json. */
export class StepsOfImages implements ImageProcessor {
  readonly #size: Size | null;
  readonly #filter: FilterName;
  readonly #crop: Size | null;
  readonly #factor: number;
  readonly #mean: readonly number[];
  readonly #deviation: readonly number[];

  constructor(values: ConfigValues) {
    const config = new Config(values, "", kFile);
    const key = config.has("image_processor_type")
      ? "image_processor_type"
      : "feature_extractor_type";
    const given = config.text(key, "ViTImageProcessor");
    const kind = given.replace(/Fast$/, "");
    if (!Object.hasOwn(kKinds, kind)) config.refuse(key, given, Object.keys(kKinds));
    const isShortest = kKinds[kind] === true;
    // Gemma 3 may also read pieces of long images.
    config.only("do_pan_and_scan", false);
    this.#size = config.flag("do_resize", true) ? sizeOf(config, "size", isShortest, 224) : null;
    const filter = config.whole("resample", isShortest ? 3 : 2);
    this.#filter = kFilters[filter] ?? config.refuse("resample", filter, [0, 1, 2, 3, 4]);
    const isCropped = config.flag("do_center_crop", isShortest);
    this.#crop = isCropped ? sizeOf(config, "crop_size", false, 224) : null;
    this.#factor = config.flag("do_rescale", true) ? config.number("rescale_factor", 1 / 255) : 1;
    const isNormal = config.flag("do_normalize", true);
    const numbers = (name: string, fallback: readonly number[]) =>
      config.has(name) ? config.positives(name, 3) : fallback;
    const half = [0.5, 0.5, 0.5];
    this.#mean = isNormal ? numbers("image_mean", half) : [0, 0, 0];
    this.#deviation = isNormal ? numbers("image_std", half) : [1, 1, 1];
  }

  process(images: ImageLike | readonly ImageLike[], options: ProcessOptions = {}): eg.Tensor {
    checkOptions(kWhere, options, { device: kText });
    const list = (Array.isArray(images) ? images : [images]) as readonly ImageLike[];
    if (list.length === 0) fail("InvalidArgument", kWhere, "expected at least one image.");
    return eg.noGrad(() =>
      eg.scope(() => {
        const made = list.map((image) => this.#processed(pixelsOf(image)));
        const sizes = new Set(made.map(({ shape }) => String(shape)));
        if (sizes.size > 1) {
          const message = "the images have different sizes, and the files do not say one for all.";
          fail("ShapeMismatch", kWhere, message);
        }
        return eg.stack(made).to(options.device ?? "cpu");
      }),
    );
  }

  #processed(pixels: eg.Tensor): eg.Tensor {
    const resized = this.#size === null ? pixels : resize(pixels, this.#size, this.#filter);
    const cropped = this.#crop === null ? resized : crop(resized, this.#crop);
    const column = (list: readonly number[]) => eg.tensor([...list]).reshape([3, 1, 1]);
    return cropped.mul(this.#factor).sub(column(this.#mean)).div(column(this.#deviation));
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function sizeOf(config: Config, key: string, isShortest: boolean, fallback: number): Size {
  if (typeof config.raw(key) !== "object" || !config.has(key)) {
    const size = config.size(key, fallback);
    return isShortest ? { shortest: size } : { height: size, width: size };
  }
  const part = config.part(key);
  if (part.has("shortest_edge")) return { shortest: part.size("shortest_edge") };
  return { height: part.size("height"), width: part.size("width") };
}

// The colors of an image: [3, height, width], from 0 to 255.
function pixelsOf(image: ImageLike): eg.Tensor {
  if (image instanceof eg.Tensor) {
    if (image.ndim !== 3 || image.shape[0] !== 3) {
      const got = `[${image.shape.join(", ")}]`;
      fail("ShapeMismatch", kWhere, `expected an image [3, height, width], got ${got}.`);
    }
    return image.cpu().float();
  }
  const { data, width, height } = Object(image) as Partial<Exclude<ImageLike, eg.Tensor>>;
  const channels = (data?.length ?? 0) / ((width ?? 0) * (height ?? 0));
  if (data === undefined || (channels !== 3 && channels !== 4)) {
    const expected = "an image { data, width, height } with three or four numbers for each pixel";
    fail("InvalidArgument", kWhere, `expected ${expected}, got ${describe(image)}.`);
  }
  const all = eg.tensor(Float32Array.from(data), {
    shape: [height as number, width as number, channels],
  });
  return all.narrow(2, 0, 3).permute([2, 0, 1]);
}

// Both directions are rounded, because images have whole numbers in between.
function resize(pixels: eg.Tensor, size: Size, filter: FilterName): eg.Tensor {
  const [, height, width] = pixels.shape as [number, number, number];
  const [tall, wide] =
    "shortest" in size ? scaled(height, width, size.shortest) : [size.height, size.width];
  const rounded = (x: eg.Tensor) => x.add(0.5).floor().clamp(0, 255);
  const narrow = width === wide ? pixels : rounded(resampled(pixels, [height, wide], filter));
  return height === tall ? narrow : rounded(resampled(narrow, [tall, wide], filter));
}

// One of the sizes is that of the image.
function resampled(
  pixels: eg.Tensor,
  size: readonly [height: number, width: number],
  filter: FilterName,
): eg.Tensor {
  const [, height, width] = pixels.shape as [number, number, number];
  const [tall, wide] = size;
  if (filter === "bilinear" || filter === "bicubic") {
    const options = { size, mode: filter, antialias: true } as const;
    return eg.interpolate(pixels.unsqueeze(0), options).squeeze(0);
  }
  return tall === height
    ? eg.matmul(pixels, eg.tensor(resamplingMatrix(width, wide, filter)).t())
    : eg.matmul(eg.tensor(resamplingMatrix(height, tall, filter)), pixels);
}

function scaled(height: number, width: number, shortest: number): [number, number] {
  const long = Math.floor((shortest * Math.max(height, width)) / Math.min(height, width));
  return height <= width ? [shortest, long] : [long, shortest];
}

function crop(pixels: eg.Tensor, size: Size): eg.Tensor {
  const [, height, width] = pixels.shape as [number, number, number];
  const [tall, wide] =
    "shortest" in size ? [size.shortest, size.shortest] : [size.height, size.width];
  if (tall > height || wide > width) {
    const message = `an image of ${height} x ${width} pixels is too small for ${tall} x ${wide}.`;
    fail("InvalidArgument", kWhere, message);
  }
  const [top, left] = [Math.floor((height - tall) / 2), Math.floor((width - wide) / 2)];
  return pixels.narrow(1, top, tall).narrow(2, left, wide);
}
