// Resampling of images that averages where there are fewer pixels.

import { linear, interpolate as resample, transpose } from "../generated/ops.js";
import { tensor } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { perAxis } from "./geometry.js";

const kWhere = "interpolate";

/** The weight of a pixel by its distance, which is below `reach`. */
interface Filter {
  readonly reach: number;
  weight(distance: number): number;
}

// Cubic convolution with a = -0.5, as Pillow has it; without averaging, PyTorch takes -0.75.
function cubic(distance: number): number {
  const x = Math.abs(distance);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

const kFilters: Readonly<Record<string, Filter>> = {
  bilinear: { reach: 1, weight: (distance) => Math.max(0, 1 - Math.abs(distance)) },
  bicubic: { reach: 2, weight: cubic },
};

/** How an axis is resampled. */
interface Axis {
  readonly from: number;
  readonly to: number;
  /** Pixels of the input for one of the result. */
  readonly scale: number;
}

// The weights of the input's pixels in each of the result: [to, from].
function weightsOf({ from, to, scale }: Axis, { reach, weight }: Filter): Float64Array {
  const rows = new Float64Array(to * from);
  const width = Math.max(scale, 1);
  for (let i = 0; i < to; i++) {
    const center = scale * (i + 0.5);
    const first = Math.max(Math.trunc(center - reach * width + 0.5), 0);
    const last = Math.min(Math.trunc(center + reach * width + 0.5), from);
    let sum = 0;
    for (let x = first; x < last; x++) {
      const share = weight((x - center + 0.5) / width);
      rows[i * from + x] = share;
      sum += share;
    }
    if (sum === 0) continue;
    for (let x = first; x < last; x++) rows[i * from + x] = (rows[i * from + x] as number) / sum;
  }
  return rows;
}

function resampled(x: Tensor, dim: number, axis: Axis, filter: Filter): Tensor {
  if (axis.from === axis.to && axis.scale === 1) return x;
  const { dtype, device } = x;
  const shape = [axis.to, axis.from];
  const weights = tensor(weightsOf(axis, filter), { shape, dtype, device });
  return transpose(linear(transpose(x, dim, -1), weights), dim, -1);
}

type Factor = number | readonly number[] | null;
type Mode = "nearest" | "linear" | "bilinear" | "bicubic" | "trilinear" | "nearest-exact" | "area";

/**
 * Resamples the dimensions after the channels to `size` or by `scaleFactor`. With `antialias`, images become smaller by averages over all pixels, as in
 * Pillow: for the modes "bilinear" and "bicubic", and inputs [images, channels, height, width].
 */
export const interpolate = /* @__PURE__ */ composite(
  kWhere,
  "input:tensor size:ints?=null scaleFactor:any=null mode:choice(nearest|linear|bilinear|bicubic|trilinear|nearest-exact|area)=nearest alignCorners:bool?=null recomputeScaleFactor:bool?=null antialias:bool=false",
  (
    input,
    size,
    scaleFactor: Factor,
    mode: Mode,
    alignCorners,
    recomputeScaleFactor,
    antialias,
  ): Tensor => {
    if (!antialias) {
      return resample(input, size, scaleFactor, mode, alignCorners, recomputeScaleFactor);
    }
    const filter = kFilters[mode];
    if (filter === undefined || input.ndim !== 4) {
      const expected = 'mode "bilinear" or "bicubic" and an input of 4 dimensions';
      const got = `"${mode}" and the shape [${input.shape.join(", ")}]`;
      return fail("InvalidArgument", kWhere, `antialias requires ${expected}, got ${got}.`);
    }
    if (!input.isFloatingPoint()) {
      const message = `input must be floating-point, got ${input.dtype}.`;
      return fail("DtypeMismatch", kWhere, message);
    }
    // The op checks sizes: an image of one pixel costs nothing.
    const { shape } = resample(
      input.detach().narrow(0, 0, 0),
      size,
      scaleFactor,
      "area",
      null,
      recomputeScaleFactor,
    );
    const factors = scaleFactor === null ? null : perAxis(kWhere, "scaleFactor", scaleFactor, 2);
    const isGiven = factors !== null && recomputeScaleFactor !== true;
    const axes = [2, 3].map((dim, i): Axis => {
      const [from, to] = [input.shape[dim] as number, shape[dim] as number];
      const whole = isGiven ? 1 / (factors[i] as number) : from / to;
      const between = to > 1 ? (from - 1) / (to - 1) : 0;
      return { from, to, scale: alignCorners === true ? between : whole };
    });
    const wide = resampled(input, 3, axes[1] as Axis, filter);
    return resampled(wide, 2, axes[0] as Axis, filter);
  },
);
