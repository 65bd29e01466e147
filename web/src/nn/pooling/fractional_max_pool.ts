// Max pooling over windows at random positions, so that the result can have any fraction of the input's size.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, type Options, Rule } from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { toDtype } from "../../generated/internal.js";
import {
  add,
  arange,
  cat,
  floor,
  full,
  gather,
  max,
  mul,
  rand,
  reshape,
  select,
  squeeze,
  sub,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { asBuffer } from "../layer.js";
import { perDimension } from "../layer_options.js";
import type { Buffer } from "../parameter.js";
import { type PoolClass, type PoolLayer, poolLayer } from "./pool_layer.js";

needsPart("conv");

const ratio = /* @__PURE__ */ new Rule<number>(
  "a number between 0 and 1",
  (value) => typeof value === "number" && value > 0 && value < 1,
);

function optionsOf(spatial: number) {
  const ratios = new Rule<number | readonly number[]>(
    `${ratio.expected}, or a list of ${spatial}`,
    (value) =>
      Array.isArray(value)
        ? value.length === spatial && value.every(ratio.accepts)
        : ratio.accepts(value),
  );
  return {
    /** The sizes of the result; give this or `outputRatio`. */
    outputSize: perDimension(spatial, 1).orNull(),
    /** The sizes of the result as fractions of the input's; give this or `outputSize`. */
    outputRatio: ratios.orNull(),
    /** Also return the positions of the largest elements; default false. */
    returnIndices: boolean.or(false),
    /** Numbers from 0 to 1, [N, C, axes], that determine where windows begin; drawn if left out. */
    _randomSamples: tensorRule.orNull(),
  };
}

/** Options of `FractionalMaxPool2d` and `FractionalMaxPool3d`, and of the functions. */
export type FractionalMaxPoolOptions = Options<ReturnType<typeof optionsOf>>;

type Positional = [
  outputSize: Ints | null,
  outputRatio: number | readonly number[] | null,
  returnIndices: boolean,
  randomSamples: Tensor | null,
];

/** The arguments of `FractionalMaxPool2d` and `FractionalMaxPool3d`. */
export type FractionalMaxPoolArguments = [
  kernelSize: Ints,
  ...rest: Arguments<Positional, FractionalMaxPoolOptions>,
];

interface FractionalMaxPool {
  (
    input: Tensor,
    kernelSize: Ints,
    options: FractionalMaxPoolOptions & { returnIndices: true },
  ): [Tensor, Tensor];
  (input: Tensor, ...rest: FractionalMaxPoolArguments): Tensor;
}

/**
 * Returns the largest elements of `outputSize` windows at random positions of images [N, C, H, W] or [C, H, W]; with
 * `returnIndices`, also their positions in the flattened image.
 */
export const fractionalMaxPool2d: FractionalMaxPool = /* @__PURE__ */ pool(
  "fractionalMaxPool2d",
  2,
);

/**
 * Returns the largest elements of `outputSize` windows at random positions of volumes [N, C, D, H, W] or [C, D, H, W];
 * with `returnIndices`, also their positions in the flattened volume.
 */
export const fractionalMaxPool3d: FractionalMaxPool = /* @__PURE__ */ pool(
  "fractionalMaxPool3d",
  3,
);

function pool(where: string, spatial: number): FractionalMaxPool {
  const rules = { input: tensorRule, kernelSize: perDimension(spatial, 1), ...optionsOf(spatial) };
  const run = (...given: readonly unknown[]): Tensor | [Tensor, Tensor] => {
    const call = readArguments(where, rules, given);
    const { input, returnIndices } = call;
    if (input.ndim !== spatial + 1 && input.ndim !== spatial + 2) {
      const message = `expected a ${spatial + 1}D or ${spatial + 2}D input, got the shape [${input.shape.join(", ")}].`;
      fail("ShapeMismatch", where, message);
    }
    const perAxis = (value: number | readonly number[]) =>
      typeof value === "number" ? new Array<number>(spatial).fill(value) : value;
    const sizes = input.shape.slice(-spatial);
    const kernel = perAxis(call.kernelSize);
    const wanted = sizesOf(where, call, sizes, perAxis);
    sizes.forEach((size, axis) => {
      if ((wanted[axis] ?? 0) + (kernel[axis] ?? 0) - 1 <= size) return;
      const message = `${wanted[axis]} windows of ${kernel[axis]} do not fit into an input of ${size}.`;
      fail("ShapeMismatch", where, message);
    });
    return scope(() => {
      const isBatch = input.ndim === spatial + 2;
      const batch = isBatch ? input : unsqueeze(input, 0);
      const samples = call._randomSamples ?? samplesFor(batch, spatial);
      const both = largest(batch, samples, kernel, wanted);
      const [values, places] = isBatch ? both : both.map((tensor) => squeeze(tensor, 0));
      return returnIndices ? [values as Tensor, places as Tensor] : (values as Tensor);
    });
  };
  return Object.defineProperty(run, "name", { value: where }) as FractionalMaxPool;
}

function sizesOf(
  where: string,
  call: { readonly outputSize: Ints | null; readonly outputRatio: Ints | null },
  sizes: readonly number[],
  perAxis: (value: Ints) => readonly number[],
): readonly number[] {
  if (call.outputSize !== null) return perAxis(call.outputSize);
  if (call.outputRatio === null) {
    fail("InvalidArgument", where, "pass either outputSize or outputRatio.");
  }
  const ratios = perAxis(call.outputRatio);
  return sizes.map((size, axis) => Math.trunc(size * (ratios[axis] ?? 0)));
}

function samplesFor(batch: Tensor, spatial: number): Tensor {
  const { dtype, device, shape } = batch;
  return rand([shape[0] ?? 0, shape[1] ?? 0, spatial], { dtype, device });
}

function largest(
  batch: Tensor,
  samples: Tensor,
  kernel: readonly number[],
  wanted: readonly number[],
): [Tensor, Tensor] {
  const spatial = kernel.length;
  const [images = 0, channels = 0, ...sizes] = batch.shape;
  const area = (list: readonly number[]) => list.reduce((product, size) => product * size, 1);
  const axes = sizes.map((size, axis) => {
    // The first sample is for the width of images, but for the depth of volumes, as in PyTorch.
    const sample = select(samples, -1, spatial === 2 ? 1 - axis : axis);
    const places = windowPlaces(sample, size, kernel[axis] ?? 1, wanted[axis] ?? 1);
    const steps = area(sizes.slice(axis + 1));
    // [N, C, windows of every axis, elements of every axis], of size 1 but for this axis.
    const shape = [...sizes, ...sizes].map((_, i) =>
      i % spatial !== axis ? 1 : ((i < spatial ? wanted : kernel)[axis] ?? 1),
    );
    return reshape(mul(places, steps), [images, channels, ...shape]);
  });
  const places = axes.reduce((sum, axis) => add(sum, axis));
  const [windows, elements] = [area(wanted), area(kernel)];
  const flatPlaces = reshape(places, [images, channels, windows * elements]);
  const flat = reshape(batch, [images, channels, area(sizes)]);
  const rows = reshape(gather(flat, -1, flatPlaces), [images, channels, windows, elements]);
  const [values, chosen] = max(rows, -1);
  const found = gather(
    reshape(flatPlaces, [images, channels, windows, elements]),
    -1,
    unsqueeze(chosen, -1),
  );
  const shape = [images, channels, ...wanted];
  return [reshape(values, shape), reshape(found, shape)];
}

// The positions of the elements of windows along an axis: [N, C, windows, elements]. The last window ends at the end.
function windowPlaces(sample: Tensor, size: number, kernel: number, windows: number): Tensor {
  const { dtype, device } = sample;
  const last = full([...sample.shape, 1], size - kernel, { dtype, device });
  const starts = windows === 1 ? last : cat([startsOf(sample, size - kernel, windows), last], -1);
  const steps = arange(kernel, { dtype: "int64", device });
  return add(unsqueeze(toDtype(starts, "int64"), -1), steps);
}

function startsOf(sample: Tensor, end: number, windows: number): Tensor {
  const { dtype, device } = sample;
  const alpha = end / (windows - 1);
  const own = unsqueeze(sample, -1);
  const moved = mul(add(own, arange(windows - 1, { dtype, device })), alpha);
  return sub(floor(moved), floor(mul(own, alpha)));
}

/** A layer of fractional max pooling. */
export interface FractionalPoolLayer extends PoolLayer {
  /** The other arguments. */
  readonly options: FractionalMaxPoolOptions;
  /** Returns the maxima, or with `returnIndices` also their positions in the flattened image or volume. */
  forward(input: Tensor): Tensor;
}

function fractionalPool(
  spatial: number,
  op: FractionalMaxPool,
): PoolClass<Positional, FractionalMaxPoolOptions, FractionalPoolLayer> {
  const rules = optionsOf(spatial);
  type Pool = new (...given: unknown[]) => FractionalPoolLayer;
  const Pool = poolLayer(spatial, rules, op, [], ({ outputSize, outputRatio }) => {
    if ((outputSize === null) !== (outputRatio === null)) return undefined;
    return "pass either outputSize or outputRatio, not both.";
  }) as Pool;
  return class extends Pool {
    _random_samples: Buffer | null;

    constructor(...given: unknown[]) {
      super(...given);
      const { _randomSamples = null, ...options } = this.options;
      Object.assign(this, { options });
      this._random_samples = asBuffer(_randomSamples);
    }

    override forward(input: Tensor): Tensor {
      const { kernelSize, options, _random_samples: samples } = this;
      return op(input, kernelSize, { ...options, _randomSamples: samples }) as Tensor;
    }
  } as unknown as PoolClass<Positional, FractionalMaxPoolOptions, FractionalPoolLayer>;
}

/** The largest elements of windows at random positions of images. */
export class FractionalMaxPool2d extends fractionalPool(2, fractionalMaxPool2d) {}

/** The largest elements of windows at random positions of volumes. */
export class FractionalMaxPool3d extends fractionalPool(3, fractionalMaxPool3d) {}
