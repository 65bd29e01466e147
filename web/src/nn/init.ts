// nn.init: filling parameters with their first values, with the numbers PyTorch draws.

import { noGrad } from "../autograd/grad_mode.js";
import { normal_ as drawNormal, uniform_ as drawUniform, fill_ } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";

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
