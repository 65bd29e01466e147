// Resize, and other ops that resample or rearrange pixels.

import * as eg from "edgegrad";
import { unknownMode } from "../errors.js";
import { hostOr, ints, intsOf, tensor, type Value } from "../values/value.js";
import { axesOf, range } from "./axes.js";
import {
  flag,
  float,
  ignored,
  maybeFloats,
  maybeInts,
  type Ops,
  op,
  string,
  type ValuesOf,
} from "./op.js";

const kResize = {
  antialias: flag(false),
  axes: maybeInts,
  coordinate_transformation_mode: string("half_pixel"),
  cubic_coeff_a: float(-0.75),
  exclude_outside: flag(false),
  extrapolation_value: float(0),
  keep_aspect_ratio_policy: string("stretch"),
  mode: string("nearest"),
  nearest_mode: string("round_prefer_floor"),
};

type Given = ValuesOf<typeof kResize>;

/** How one axis is resized. */
interface Axis {
  readonly axis: number;
  readonly size: number;
  readonly target: number;
  readonly scale: number;
  /** The range that tf_crop_and_resize crops. */
  readonly from: number;
  readonly to: number;
}

const f32 = Math.fround;

// The ends of the source over the ends of the result: the sizes count, as in PyTorch and onnxruntime, and not a scale that does not fit
// them, as in ONNX's own cases.
const betweenEnds = (i: number, size: number, target: number) =>
  f32(f32(i * (size - 1)) / (target - 1));

/**
 * Returns the source coordinate of an element of the resized axis. It is computed in float32 like in other programs, because ties
 * between neighbors depend on it.
 */
function coordinate(i: number, { size, target, scale, from, to }: Axis, mode: string): number {
  const half = () => f32(f32(f32(i + 0.5) / scale) - 0.5);
  switch (mode) {
    case "half_pixel":
      return half();
    case "half_pixel_symmetric":
      return f32(f32((size / 2) * (1 - f32(target / f32(scale * size)))) + half());
    case "pytorch_half_pixel":
      return target > 1 ? half() : 0;
    case "align_corners":
      return target === 1 ? 0 : betweenEnds(i, size, target);
    case "asymmetric":
      return f32(i / scale);
    case "tf_half_pixel_for_nn":
      return f32(f32(i + 0.5) / scale);
    case "tf_crop_and_resize":
      return target > 1
        ? f32(from * (size - 1) + f32((to - from) * betweenEnds(i, size, target)))
        : 0.5 * (from + to) * (size - 1);
    default:
      return unknownMode("coordinate_transformation_mode", mode);
  }
}

const kNearest: Readonly<Record<string, (x: number) => number>> = {
  round_prefer_floor: (x) => Math.ceil(x - 0.5),
  round_prefer_ceil: (x) => Math.floor(x + 0.5),
  floor: Math.floor,
  ceil: Math.ceil,
};

// The weight of a neighbor by its distance.
function linearWeight(distance: number): number {
  return Math.max(0, 1 - Math.abs(distance));
}

function cubicWeight(distance: number, a: number): number {
  const x = Math.abs(distance);
  if (x <= 1) return (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1;
  return x < 2 ? a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a : 0;
}

/** Returns the source neighbors of each new element as [position, weight]. */
function neighbors(axis: Axis, given: Given): [position: number, weight: number][][] {
  const { size, target, scale } = axis;
  const isCubic = given.mode === "cubic";
  // With antialias, downsampling uses wider neighborhoods.
  const stretch = given.antialias && scale < 1 ? scale : 1;
  const reach = (isCubic ? 2 : 1) / stretch;
  const last = size - 1;
  return range(target).map((i) => {
    const at = coordinate(i, axis, given.coordinate_transformation_mode);
    const isOutside =
      given.coordinate_transformation_mode === "tf_crop_and_resize" && (at < 0 || at > last);
    if (isOutside) return [];
    const first = Math.floor(at - reach) + 1;
    const found = range(Math.ceil(2 * reach)).map((k): [number, number] => {
      const distance = (first + k - at) * stretch;
      return [
        first + k,
        isCubic ? cubicWeight(distance, given.cubic_coeff_a) : linearWeight(distance),
      ];
    });
    const kept = given.exclude_outside
      ? found.filter(([position]) => position >= 0 && position <= last)
      : found;
    const total = kept.reduce((sum, [, weight]) => sum + weight, 0);
    return kept.map(([position, weight]) => [
      Math.min(Math.max(position, 0), last),
      weight / total,
    ]);
  });
}

// Resizes one axis by a product with a weight matrix.
function resizeByWeights(x: eg.Tensor, axis: Axis, given: Given): eg.Tensor {
  const rows = neighbors(axis, given);
  const matrix = new Float64Array(axis.target * axis.size);
  const outside = new Float64Array(axis.target);
  rows.forEach((row, i) => {
    if (row.length === 0) outside[i] = given.extrapolation_value;
    for (const [position, weight] of row) {
      const at = i * axis.size + position;
      matrix[at] = (matrix[at] as number) + weight;
    }
  });
  const options = { dtype: x.dtype, device: x.device };
  const weights = eg.tensor(matrix, { ...options, shape: [axis.target, axis.size] });
  const moved = eg.linear(eg.transpose(x, axis.axis, -1), weights);
  const filled = outside.some((value) => value !== 0)
    ? moved.add(eg.tensor(outside, options))
    : moved;
  return eg.transpose(filled, axis.axis, -1);
}

// Returns the source position of each element of the resized axis.
function nearestPlaces(axis: Axis, given: Given): number[] {
  const rounding = kNearest[given.nearest_mode] ?? unknownMode("nearest_mode", given.nearest_mode);
  return range(axis.target).map((i) => {
    const at = rounding(coordinate(i, axis, given.coordinate_transformation_mode));
    return Math.min(Math.max(at, 0), axis.size - 1);
  });
}

function nearest(x: eg.Tensor, axis: Axis, given: Given): eg.Tensor {
  const places = nearestPlaces(axis, given);
  const index = eg.tensor(BigInt64Array.from(places, BigInt), { device: x.device });
  return eg.indexSelect(x, axis.axis, index);
}

// Whether eg.interpolate() takes the same elements.
function isPlain(axis: Axis, given: Given): boolean {
  const { size, target } = axis;
  const ratio = f32(size / target);
  return nearestPlaces(axis, given).every(
    (place, i) => place === Math.min(Math.floor(f32(i * ratio)), size - 1),
  );
}

// A scale that is not the exact ratio of the sizes shifts the other coordinates.
const isRatio = ({ size, scale, target }: Axis) => Math.abs(size * scale - target) < 1e-6;

// Uses eg.interpolate(), which is much faster, in the cases where it computes the same.
function interpolate(x: eg.Tensor, axes: readonly Axis[], given: Given): eg.Tensor | null {
  const changed = axes.filter(({ size, target }) => size !== target);
  const isImage =
    (x.ndim === 4 || x.ndim === 3) && changed.every(({ axis }) => axis >= 2) && x.isFloatingPoint();
  if (!isImage || given.antialias !== given.exclude_outside) return null;
  const spatial = x.shape
    .slice(2)
    .map((size, i) => axes.find(({ axis }) => axis === i + 2) ?? unchanged(i + 2, size));
  const size = spatial.map(({ target }) => target);
  const mode = given.coordinate_transformation_mode;
  if (given.antialias) {
    // PyTorch's averages leave out what is outside, and have this coefficient.
    const isUsual = given.mode === "linear" || Math.abs(given.cubic_coeff_a + 0.5) < 1e-6;
    const isHalf = mode === "half_pixel" && spatial.every(isRatio);
    if (!isUsual || !isHalf || x.ndim !== 4 || given.mode === "nearest") return null;
    const kind = given.mode === "linear" ? "bilinear" : "bicubic";
    return eg.interpolate(x, { size, mode: kind, antialias: true });
  }
  if (given.mode === "nearest") {
    const isSame = spatial.every((axis) => isPlain(axis, given));
    return isSame ? eg.interpolate(x, { size, mode: "nearest" }) : null;
  }
  const alignCorners = mode === "align_corners";
  const isHalf =
    mode === "half_pixel" || (mode === "pytorch_half_pixel" && size.every((size) => size > 1));
  if (!alignCorners && !(isHalf && spatial.every(isRatio))) return null;
  if (given.mode === "linear")
    return eg.interpolate(x, { size, mode: x.ndim === 4 ? "bilinear" : "linear", alignCorners });
  const isUsual = Math.abs(given.cubic_coeff_a + 0.75) < 1e-6 && x.ndim === 4;
  return isUsual ? eg.interpolate(x, { size, mode: "bicubic", alignCorners }) : null;
}

const unchanged = (axis: number, size: number): Axis => ({
  axis,
  size,
  target: size,
  scale: 1,
  from: 0,
  to: 1,
});

function resizeAxes(x: eg.Tensor, axes: readonly Axis[], given: Given): eg.Tensor {
  const whole = interpolate(x, axes, given);
  if (whole !== null) return whole;
  const isCropped = given.coordinate_transformation_mode === "tf_crop_and_resize";
  const changed = axes.filter(
    ({ size, target, scale }) => size !== target || scale !== 1 || isCropped,
  );
  if (given.mode === "nearest") return changed.reduce((all, axis) => nearest(all, axis, given), x);
  const input = x.isFloatingPoint() ? x : x.to("float32");
  const result = changed.reduce((all, axis) => resizeByWeights(all, axis, given), input);
  return input === x ? result : eg.round(result).to(x.dtype);
}

function resize([input, roi, scales, sizes]: readonly Value[], given: Given): eg.Tensor {
  const x = tensor(input);
  const dims = axesOf(given.axes, x.ndim);
  const region = hostOr(roi);
  const factors = hostOr(scales);
  const targets = ints(sizes);
  const sized = targets?.length ? sizesFor(x, dims, targets, given) : undefined;
  const axes = dims.map((axis, i): Axis => {
    const size = x.shape[axis] as number;
    const scale =
      sized?.scale ?? f32(targets?.length ? (targets[i] as number) / size : (factors[i] as number));
    const target =
      sized?.sizes[i] ?? (targets?.length ? (targets[i] as number) : Math.floor(f32(size * scale)));
    return { axis, size, target, scale, from: region[i] ?? 0, to: region[i + dims.length] ?? 1 };
  });
  return resizeAxes(x, axes, given);
}

// With a keep_aspect_ratio_policy all axes have one scale: no axis is larger, or no axis is smaller, than requested.
function sizesFor(
  x: eg.Tensor,
  dims: readonly number[],
  wanted: readonly number[],
  { keep_aspect_ratio_policy: policy }: Given,
): { sizes: number[]; scale: number } | undefined {
  if (policy === "stretch") return undefined;
  const scales = dims.map((axis, i) => (wanted[i] as number) / (x.shape[axis] as number));
  const scale = policy === "not_larger" ? Math.min(...scales) : Math.max(...scales);
  return { sizes: dims.map((axis) => Math.round((x.shape[axis] as number) * scale)), scale };
}

const kUpsample: Given = {
  antialias: false,
  axes: undefined,
  coordinate_transformation_mode: "asymmetric",
  cubic_coeff_a: -0.75,
  exclude_outside: false,
  extrapolation_value: 0,
  keep_aspect_ratio_policy: "stretch",
  mode: "nearest",
  nearest_mode: "floor",
};

export const kResizing: Ops = {
  Resize: op({
    since: 10,
    attributes: kResize,
    settings: [1, 2, 3],
    run: (inputs, given, { version }) => {
      if (version > 10) return resize(inputs, given);
      return resize([inputs[0], undefined, inputs[1]], { ...kUpsample, mode: given.mode });
    },
  }),
  Upsample: op({
    until: 9,
    attributes: {
      mode: string("nearest"),
      scales: maybeFloats,
      width_scale: ignored,
      height_scale: ignored,
    },
    settings: [1],
    run: ([x, scales], given) => {
      const factors = scales ?? eg.tensor([...(given.scales ?? [])]);
      return resize([x, undefined, factors], {
        ...kUpsample,
        mode: given.mode === "bilinear" ? "linear" : given.mode,
      });
    },
  }),
  AffineGrid: op({
    since: 20,
    attributes: { align_corners: flag(false) },
    settings: [1],
    run: ([theta, size], { align_corners }) =>
      eg.nn.functional.affineGrid(tensor(theta), intsOf(size, "size"), {
        alignCorners: align_corners,
      }),
  }),
  Col2Im: op({
    since: 18,
    attributes: { dilations: maybeInts, pads: maybeInts, strides: maybeInts },
    settings: [1, 2],
    run: ([x, image, block], given) =>
      col2im(tensor(x), intsOf(image, "image_shape"), intsOf(block, "block_shape"), given),
  }),
  GridSample: op({
    since: 16,
    attributes: {
      align_corners: flag(false),
      mode: string("bilinear"),
      padding_mode: string("zeros"),
    },
    run: ([x, grid], { align_corners, mode, padding_mode }) =>
      eg.nn.functional.gridSample(tensor(x), tensor(grid), {
        mode: (kGridModes[mode] ?? mode) as "bilinear",
        paddingMode: padding_mode as "zeros",
        alignCorners: align_corners,
      }),
  }),
};

// Version 20 renamed the modes.
const kGridModes: Readonly<Record<string, string>> = { linear: "bilinear", cubic: "bicubic" };

interface Windows {
  readonly dilations: readonly number[] | undefined;
  readonly pads: readonly number[] | undefined;
  readonly strides: readonly number[] | undefined;
}

// Adds each column to the elements of its window.
function col2im(
  x: eg.Tensor,
  image: readonly number[],
  block: readonly number[],
  given: Windows,
): eg.Tensor {
  const rank = image.length;
  const ones = range(rank).map(() => 1);
  const [strides, dilations] = [given.strides ?? ones, given.dilations ?? ones];
  const pads = given.pads ?? range(2 * rank).map(() => 0);
  const counts = image.map((size, i) => {
    const whole = size + (pads[i] as number) + (pads[i + rank] as number);
    const reach = (dilations[i] as number) * ((block[i] as number) - 1) + 1;
    return Math.floor((whole - reach) / (strides[i] as number)) + 1;
  });
  const sizes = image.map((size, i) => size + (pads[i] as number) + (pads[i + rank] as number));
  const positions = everyIndex(block).flatMap((inner) =>
    everyIndex(counts).map((window) =>
      sizes.reduce((at, size, i) => {
        const offset =
          (window[i] as number) * (strides[i] as number) +
          (inner[i] as number) * (dilations[i] as number);
        return at * size + offset;
      }, 0),
    ),
  );
  const [n = 1, rows = 1] = x.shape;
  const channels = rows / block.reduce((a, b) => a * b, 1);
  const index = eg.tensor(BigInt64Array.from(positions, BigInt), { device: x.device });
  const total = sizes.reduce((a, b) => a * b, 1);
  const empty = eg.zeros([n, channels, total], { dtype: x.dtype, device: x.device });
  const whole = eg
    .indexAdd(empty, 2, index, x.reshape([n, channels, -1]))
    .reshape([n, channels, ...sizes]);
  return image.reduce((all, size, i) => eg.narrow(all, i + 2, pads[i] as number, size), whole);
}

function everyIndex(sizes: readonly number[]): number[][] {
  return sizes.reduce<number[][]>(
    (all, size) => all.flatMap((position) => range(size).map((i) => [...position, i])),
    [[]],
  );
}
