// nn.init: filling parameters with their first values, with the numbers PyTorch draws.

import { noGrad } from "../autograd/grad_mode.js";
import {
  add_,
  clamp_,
  copy_,
  normal_ as drawNormal,
  uniform_ as drawUniform,
  erfinv_,
  eye,
  fill_,
  mul_,
  randperm,
} from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import { tensor as makeTensor } from "../tensor/create.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { orthonormalColumns } from "./orthonormal.js";

/** Which of a layer's two sizes keeps its scale: forward (fan_in) or backward (fan_out). */
export type FanMode = "fan_in" | "fan_out";

/** Functions whose recommended gain is known. */
export type Nonlinearity =
  | "linear"
  | "conv1d"
  | "conv2d"
  | "sigmoid"
  | "tanh"
  | "relu"
  | "leaky_relu"
  | "selu";

/** Options of the Kaiming functions. */
export interface KaimingOptions {
  /** The slope below zero of leaky_relu; default 0. */
  a?: number;
  mode?: FanMode;
  nonlinearity?: Nonlinearity;
}

/** Returns the gain recommended for a function; `param` is the slope of leaky_relu. */
export function calculateGain(nonlinearity: Nonlinearity, param = 0.01): number {
  switch (nonlinearity) {
    case "linear":
    case "conv1d":
    case "conv2d":
    case "sigmoid":
      return 1;
    case "tanh":
      return 5 / 3;
    case "relu":
      return Math.sqrt(2);
    case "leaky_relu":
      return Math.sqrt(2 / (1 + param ** 2));
    case "selu":
      return 3 / 4;
    default:
      fail(
        "InvalidArgument",
        "calculateGain",
        `Unsupported nonlinearity ${describe(nonlinearity)}.`,
      );
  }
}

/** Fills a tensor with numbers drawn evenly between `low` and `high`. */
export function uniform_<T extends Tensor>(tensor: T, low = 0, high = 1): T {
  noGrad(() => drawUniform(tensor, low, high));
  return tensor;
}

/** Fills a tensor with normally distributed numbers. */
export function normal_<T extends Tensor>(tensor: T, mean = 0, std = 1): T {
  noGrad(() => drawNormal(tensor, mean, std));
  return tensor;
}

/** Sets every element to `value`. */
export function constant_<T extends Tensor>(tensor: T, value: number): T {
  noGrad(() => fill_(tensor, value));
  return tensor;
}

/** Sets every element to 0. */
export function zeros_<T extends Tensor>(tensor: T): T {
  return constant_(tensor, 0);
}

/** Sets every element to 1. */
export function ones_<T extends Tensor>(tensor: T): T {
  return constant_(tensor, 1);
}

/** Fills a weight evenly so that the variance of signals stays the same (He et al.). */
export function kaimingUniform_<T extends Tensor>(tensor: T, options: KaimingOptions = {}): T {
  const bound = Math.sqrt(3) * kaimingStd(tensor, options);
  return uniform_(tensor, -bound, bound);
}

/** Fills a weight normally so that the variance of signals stays the same (He et al.). */
export function kaimingNormal_<T extends Tensor>(tensor: T, options: KaimingOptions = {}): T {
  return normal_(tensor, 0, kaimingStd(tensor, options));
}

/** Fills a weight evenly so that signals and gradients keep their variance (Glorot and Bengio). */
export function xavierUniform_<T extends Tensor>(tensor: T, gain = 1): T {
  const bound = Math.sqrt(3) * xavierStd(tensor, gain);
  return uniform_(tensor, -bound, bound);
}

/** Fills a weight normally so that signals and gradients keep their variance (Glorot and Bengio). */
export function xavierNormal_<T extends Tensor>(tensor: T, gain = 1): T {
  return normal_(tensor, 0, xavierStd(tensor, gain));
}

/** Fills a tensor with normally distributed numbers of [a, b] only. */
export function truncNormal_<T extends Tensor>(tensor: T, mean = 0, std = 1, a = -2, b = 2): T {
  // Evenly drawn values of the distribution function, turned back into numbers.
  const [low, high] = [(a - mean) / std, (b - mean) / std].map(normalCdf) as [number, number];
  noGrad(() => {
    drawUniform(tensor, 2 * low - 1, 2 * high - 1);
    add_(mul_(erfinv_(tensor), std * Math.SQRT2), mean);
    clamp_(tensor, a, b);
  });
  return tensor;
}

/** Makes a matrix the identity, as far as its shape allows. */
export function eye_<T extends Tensor>(tensor: T): T {
  const [rows, columns] = matrixShape("eye_", tensor);
  setTo(tensor, () => eye(rows, columns));
  return tensor;
}

/** Makes a convolution's weight pass its input channels on, as many as there are, in each group. */
export function dirac_<T extends Tensor>(tensor: T, groups = 1): T {
  const { shape } = tensor;
  const [outputs = 0, inputs = 0, ...kernel] = shape;
  if (shape.length < 3 || shape.length > 5) {
    refuse("dirac_", "Only tensors with 3, 4, or 5 dimensions are supported.");
  }
  if (outputs % groups !== 0) refuse("dirac_", "dim 0 must be divisible by groups.");
  const size = outputs / groups;
  const field = kernel.reduce((product, extent) => product * extent, 1);
  const center = kernel.reduce((index, extent) => index * extent + Math.floor(extent / 2), 0);
  const data = new Float64Array(outputs * inputs * field);
  for (let output = 0; output < outputs; output++) {
    const channel = output % size;
    if (channel < inputs) data[(output * inputs + channel) * field + center] = 1;
  }
  setTo(tensor, () => makeTensor(data, { shape }));
  return tensor;
}

/** Fills a weight, seen as a matrix, with rows or columns of length `gain` at right angles. */
export function orthogonal_<T extends Tensor>(tensor: T, gain = 1): T {
  const { shape } = tensor;
  if (shape.length < 2)
    refuse("orthogonal_", "Only tensors with 2 or more dimensions are supported.");
  if (tensor.numel === 0) return tensor;
  normal_(tensor);
  const [rows = 1] = shape;
  const columns = tensor.numel / rows;
  const drawn = Float64Array.from(tensor.dataSync(), Number);
  const data = orthonormalColumns(drawn, rows, columns).map((value) => value * gain);
  setTo(tensor, () => makeTensor(data, { shape }));
  return tensor;
}

/** Fills a matrix normally, with a share of zeros, at random places, in each column. */
export function sparse_<T extends Tensor>(tensor: T, sparsity: number, std = 0.01): T {
  const [rows, columns] = matrixShape("sparse_", tensor);
  const zeros = Math.ceil(sparsity * rows);
  normal_(tensor, 0, std);
  setTo(tensor, () => {
    const data = Float64Array.from(tensor.dataSync(), Number);
    for (let column = 0; column < columns; column++) {
      const places = randperm(rows).dataSync().slice(0, zeros);
      for (const row of places) data[Number(row) * columns + column] = 0;
    }
    return makeTensor(data, { shape: [rows, columns] });
  });
  return tensor;
}

/** Returns how many inputs and outputs each unit of a weight [out, in, ...kernel] has. */
export function fans({ shape }: Tensor): { fanIn: number; fanOut: number } {
  const [outputs, inputs, ...kernel] = shape;
  if (outputs === undefined || inputs === undefined) {
    fail(
      "InvalidArgument",
      "init",
      `Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, got [${shape}].`,
    );
  }
  const field = kernel.reduce((product, size) => product * size, 1);
  return { fanIn: inputs * field, fanOut: outputs * field };
}

function kaimingStd(tensor: Tensor, options: KaimingOptions): number {
  const { a = 0, mode = "fan_in", nonlinearity = "leaky_relu" } = options;
  const { fanIn, fanOut } = fans(tensor);
  if (mode !== "fan_in" && mode !== "fan_out") {
    fail("InvalidArgument", "init", `mode is "fan_in" or "fan_out", got ${describe(mode)}.`);
  }
  return calculateGain(nonlinearity, a) / Math.sqrt(mode === "fan_in" ? fanIn : fanOut);
}

function xavierStd(tensor: Tensor, gain: number): number {
  const { fanIn, fanOut } = fans(tensor);
  return gain * Math.sqrt(2 / (fanIn + fanOut));
}

function setTo(tensor: Tensor, make: () => Tensor): void {
  scope(() => noGrad(() => void copy_(tensor, make())));
}

function matrixShape(name: string, { shape }: Tensor): readonly [number, number] {
  const [rows, columns] = shape;
  if (shape.length === 2 && rows !== undefined && columns !== undefined) return [rows, columns];
  refuse(name, "Only tensors with 2 dimensions are supported.");
}

// The share of a normal distribution below x: erf by its series, or by its continued fraction far out.
function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const upper = z < 3 ? (1 - erfSeries(z)) / 2 : erfcFraction(z) / 2;
  return x < 0 ? upper : 1 - upper;
}

function erfSeries(z: number): number {
  let term = z;
  let sum = z;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * z * z) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
}

function erfcFraction(z: number): number {
  let tail = z;
  for (let n = 60; n > 0; n--) tail = z + n / 2 / tail;
  return Math.exp(-z * z) / (Math.sqrt(Math.PI) * tail);
}

function refuse(name: string, message: string): never {
  fail("InvalidArgument", name, message);
}
