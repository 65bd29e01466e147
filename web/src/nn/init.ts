// nn.init: initial values of parameters, with the numbers that PyTorch draws.

import { drawnFrom, generatorRule } from "../arguments/generator.js";
import { type Arguments, readArguments } from "../arguments/read.js";
import {
  count,
  either,
  element,
  number,
  type Options,
  oneOf,
  Rule,
  type Rules,
  share,
} from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import {
  add_,
  clamp_,
  copy_,
  diagonal,
  normal_ as drawNormal,
  uniform_ as drawUniform,
  erfinv_,
  eye,
  fill_,
  flatten,
  mul,
  mul_,
  qr,
  randperm,
  sgn,
} from "../generated/ops.js";
import { tensor as makeTensor } from "../ops/create.js";
import type { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors/errors.js";
import { type Complex, isComplex, isComplexNumber } from "../tensor/dtype.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { normalCdf } from "./normal_cdf.js";
import { isComputed } from "./utils/computed.js";

const storedRule = new Rule<Tensor>(
  "a tensor that is not computed at each use",
  (value) => tensorRule.accepts(value) && !isComputed(value as Tensor),
).advising((value) => {
  if (!tensorRule.accepts(value)) return "";
  return (
    " It is computed from other parameters, so that filling it changes nothing: fill those, or assign a new tensor, as in " +
    "layer.weight = eg.nn.init.zeros_(eg.empty(layer.weight.shape))."
  );
});

const kFanMode = oneOf("fan_in", "fan_out");

/** Whether signals (fan_in) or gradients (fan_out) keep their scale. */
export type FanMode = typeof kFanMode.type;

const kLinear = ["linear", "conv1d", "conv2d", "conv3d"] as const;

const kTransposed = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"] as const;

const kNonlinearity = oneOf(
  ...kLinear,
  ...kTransposed,
  "sigmoid",
  "tanh",
  "relu",
  "leaky_relu",
  "selu",
);

/** Functions whose recommended gain is known. */
export type Nonlinearity = typeof kNonlinearity.type;

const kGainArguments = {
  nonlinearity: kNonlinearity,
  /** The slope of leaky_relu below zero; default null, which is 0.01. */
  param: number.orNull(),
};

const kDrawn = {
  /** Where the numbers come from; default the generator that `manualSeed` seeds. */
  generator: generatorRule,
};

const kUniformArguments = { tensor: storedRule, a: number.or(0), b: number.or(1), ...kDrawn };

const kNormalNumbers = { tensor: storedRule, mean: number.or(0), std: number.or(1) };

const kNormalArguments = { ...kNormalNumbers, ...kDrawn };

const complexNumber = /* @__PURE__ */ new Rule<Complex>("a complex number", isComplexNumber);

const kConstantArguments = { tensor: storedRule, val: either(element, complexNumber) };

const kKaimingArguments = {
  tensor: storedRule,
  /** The slope below zero of leaky_relu; default 0. */
  a: number.or(0),
  /** Default "fan_in". */
  mode: kFanMode.or("fan_in"),
  /** The function after the layer; default "leaky_relu". */
  nonlinearity: kNonlinearity.or("leaky_relu"),
  ...kDrawn,
};

const kGainedArguments = {
  tensor: storedRule,
  /** A factor for the result; default 1. */
  gain: number.or(1),
  ...kDrawn,
};

const kTruncNormalArguments = {
  ...kNormalNumbers,
  a: number.or(-2),
  b: number.or(2),
  ...kDrawn,
};

const kSparseArguments = {
  tensor: storedRule,
  sparsity: share,
  std: number.or(0.01),
  ...kDrawn,
};

const kDiracArguments = { tensor: storedRule, groups: count.or(1) };

type InitOptions<R extends Rules> = Omit<Options<R>, "tensor">;

/** Options of the Kaiming functions. */
export type KaimingOptions = InitOptions<typeof kKaimingArguments>;

type KaimingRest = Arguments<
  [a: number, mode: FanMode, nonlinearity: Nonlinearity],
  KaimingOptions
>;

type GainRest = Arguments<[gain: number], InitOptions<typeof kGainedArguments>>;

/** Returns the gain recommended for a function; `param` is the slope of leaky_relu. */
export function calculateGain(
  ...given: [nonlinearity: Nonlinearity, param?: number | null]
): number {
  const { nonlinearity, param } = readArguments("calculateGain", kGainArguments, given);
  switch (nonlinearity) {
    case "tanh":
      return 5 / 3;
    case "relu":
      return Math.sqrt(2);
    case "leaky_relu":
      return Math.sqrt(2 / (1 + (param ?? 0.01) ** 2));
    case "selu":
      return 3 / 4;
    default:
      return 1;
  }
}

/** Fills a tensor with numbers from the uniform distribution on [a, b). */
export function uniform_<T extends Tensor>(
  tensor: T,
  ...rest: Arguments<[a: number, b: number], InitOptions<typeof kUniformArguments>>
): T {
  const { a, b, generator } = readArguments("uniform_", kUniformArguments, [tensor, ...rest]);
  return fillUniform(tensor, a, b, generator);
}

/** Fills a tensor with normally distributed numbers. */
export function normal_<T extends Tensor>(
  tensor: T,
  ...rest: Arguments<[mean: number, std: number], InitOptions<typeof kNormalArguments>>
): T {
  const own = readArguments("normal_", kNormalArguments, [tensor, ...rest]);
  return fillNormal(tensor, own.mean, own.std, own.generator);
}

/** Sets every element to `val`. */
export function constant_<T extends Tensor>(
  tensor: T,
  ...rest: [val: number | Complex | InitOptions<typeof kConstantArguments>]
): T {
  const { val } = readArguments("constant_", kConstantArguments, [tensor, ...rest]);
  noGrad(() => fill_(tensor, val));
  return tensor;
}

/** Sets every element to 0. */
export function zeros_<T extends Tensor>(tensor: T, ...rest: []): T {
  return setAll("zeros_", [tensor, ...rest], 0) as T;
}

/** Sets every element to 1. */
export function ones_<T extends Tensor>(tensor: T, ...rest: []): T {
  return setAll("ones_", [tensor, ...rest], 1) as T;
}

/** Fills a weight with uniformly distributed numbers that keep the variance of signals (He et al.). */
export function kaimingUniform_<T extends Tensor>(tensor: T, ...rest: KaimingRest): T {
  const { std, generator } = kaimingStd("kaimingUniform_", [tensor, ...rest]);
  // The standard deviation for an empty weight may be infinite.
  if (tensor.numel === 0) return tensor;
  const bound = Math.sqrt(3) * std;
  return fillUniform(tensor, -bound, bound, generator);
}

/** Fills a weight with normally distributed numbers that keep the variance of signals (He et al.). */
export function kaimingNormal_<T extends Tensor>(tensor: T, ...rest: KaimingRest): T {
  const { std, generator } = kaimingStd("kaimingNormal_", [tensor, ...rest]);
  return tensor.numel === 0 ? tensor : fillNormal(tensor, 0, std, generator);
}

/** Fills a weight with uniformly distributed numbers that keep the variance of signals and gradients (Glorot and Bengio). */
export function xavierUniform_<T extends Tensor>(tensor: T, ...rest: GainRest): T {
  const { std, generator } = xavierStd("xavierUniform_", [tensor, ...rest]);
  const bound = Math.sqrt(3) * std;
  return fillUniform(tensor, -bound, bound, generator);
}

/** Fills a weight with normally distributed numbers that keep the variance of signals and gradients (Glorot and Bengio). */
export function xavierNormal_<T extends Tensor>(tensor: T, ...rest: GainRest): T {
  const { std, generator } = xavierStd("xavierNormal_", [tensor, ...rest]);
  return fillNormal(tensor, 0, std, generator);
}

/** Fills a tensor with numbers from the normal distribution truncated to [a, b]. */
export function truncNormal_<T extends Tensor>(
  tensor: T,
  ...rest: Arguments<
    [mean: number, std: number, a: number, b: number],
    InitOptions<typeof kTruncNormalArguments>
  >
): T {
  const given = readArguments("truncNormal_", kTruncNormalArguments, [tensor, ...rest]);
  const { mean, std, a, b, generator } = given;
  if (isComplex(tensor.dtype)) {
    fail("DtypeMismatch", "truncNormal_", `expected real numbers, got ${tensor.dtype}.`);
  }
  if (mean < a - 2 * std || mean > b + 2 * std) {
    console.warn(
      "edgegrad: [truncNormal_] the mean is over two standard deviations outside of [a, b]: the numbers will be inaccurate.",
    );
  }
  // Uniform values of the distribution function, mapped back by its inverse.
  const [low, high] = [(a - mean) / std, (b - mean) / std].map(normalCdf) as [number, number];
  fillUniform(tensor, 2 * low - 1, 2 * high - 1, generator);
  noGrad(() => {
    add_(mul_(erfinv_(tensor), std * Math.SQRT2), mean);
    clamp_(tensor, a, b);
  });
  return tensor;
}

/** Sets a matrix to the identity, as far as its shape allows. */
export function eye_<T extends Tensor>(tensor: T, ...rest: []): T {
  readArguments("eye_", { tensor: storedRule }, [tensor, ...rest]);
  const [rows, columns] = matrixShape("eye_", tensor);
  setTo(tensor, () => eye(rows, columns));
  return tensor;
}

/** Makes a convolution's weight pass its input channels through unchanged, as many as possible in each group. */
export function dirac_<T extends Tensor>(
  tensor: T,
  ...rest: [groups?: number | InitOptions<typeof kDiracArguments>]
): T {
  const { groups } = readArguments("dirac_", kDiracArguments, [tensor, ...rest]);
  const { shape } = tensor;
  const [outputs = 0, inputs = 0, ...kernel] = shape;
  if (shape.length < 3 || shape.length > 5) {
    refuse("dirac_", `expected a weight of 3, 4 or 5 dimensions, got the shape [${shape}].`);
  }
  if (outputs % groups !== 0) {
    refuse("dirac_", `dimension 0 must be divisible by groups, got ${outputs} and ${groups}.`);
  }
  if (tensor.numel === 0) return tensor;
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

/** Fills a weight, as a matrix, with rows or columns that are orthogonal and have the norm `gain`. */
export function orthogonal_<T extends Tensor>(tensor: T, ...rest: GainRest): T {
  const own = readArguments("orthogonal_", kGainedArguments, [tensor, ...rest]);
  const { shape } = tensor;
  if (shape.length < 2) {
    refuse("orthogonal_", `expected a weight of 2 dimensions or more, got the shape [${shape}].`);
  }
  if (tensor.numel === 0) return tensor;
  fillNormal(tensor, 0, 1, own.generator);
  setTo(tensor, () => {
    const matrix = flatten(tensor, 1);
    const [rows = 1, columns = 1] = matrix.shape;
    const isWide = rows < columns;
    const [q, r] = qr(isWide ? matrix.t() : matrix);
    // Q is unique if the diagonal of R is positive.
    const columnsOfQ = mul(q, sgn(diagonal(r)));
    return mul(isWide ? columnsOfQ.t() : columnsOfQ, own.gain).view(shape);
  });
  return tensor;
}

/** Fills a matrix with normally distributed numbers and, at random positions of each column, a share of zeros. */
export function sparse_<T extends Tensor>(
  tensor: T,
  ...rest: Arguments<[sparsity: number, std: number], InitOptions<typeof kSparseArguments>>
): T {
  const own = readArguments("sparse_", kSparseArguments, [tensor, ...rest]);
  const [rows, columns] = matrixShape("sparse_", tensor);
  if (tensor.numel === 0) return tensor;
  const zeros = Math.ceil(own.sparsity * rows);
  fillNormal(tensor, 0, own.std, own.generator);
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
export function fans(...given: [tensor: Tensor]): Fans {
  return fansOf("fans", readArguments("fans", { tensor: tensorRule }, given).tensor);
}

/** How many inputs and outputs each unit of a weight has. */
export interface Fans {
  /** How many inputs an output has. */
  readonly fanIn: number;
  /** How many outputs an input has. */
  readonly fanOut: number;
}

function fansOf(where: string, { shape }: Tensor): Fans {
  const [outputs, inputs, ...kernel] = shape;
  if (outputs === undefined || inputs === undefined) {
    fail(
      "InvalidArgument",
      where,
      `expected a weight of 2 dimensions or more, got the shape [${shape}].`,
    );
  }
  const field = kernel.reduce((product, size) => product * size, 1);
  return { fanIn: inputs * field, fanOut: outputs * field };
}

/** A standard deviation, and the generator to draw with. */
interface Spread {
  readonly std: number;
  readonly generator: Generator | null;
}

function kaimingStd(where: string, given: readonly unknown[]): Spread {
  const { tensor, generator, ...own } = readArguments(where, kKaimingArguments, given);
  const { fanIn, fanOut } = fansOf(where, tensor);
  if (tensor.numel === 0) {
    console.warn(
      `edgegrad: [${where}] the tensor has no elements, so there is nothing to be drawn.`,
    );
  }
  const gain = calculateGain(own.nonlinearity, own.a);
  return { std: gain / Math.sqrt(own.mode === "fan_in" ? fanIn : fanOut), generator };
}

function xavierStd(where: string, given: readonly unknown[]): Spread {
  const { tensor, gain, generator } = readArguments(where, kGainedArguments, given);
  const { fanIn, fanOut } = fansOf(where, tensor);
  return { std: gain * Math.sqrt(2 / (fanIn + fanOut)), generator };
}

function fillUniform<T extends Tensor>(
  tensor: T,
  from: number,
  to: number,
  generator: Generator | null,
): T {
  drawnFrom(generator, () => noGrad(() => drawUniform(tensor, from, to)));
  return tensor;
}

function fillNormal<T extends Tensor>(
  tensor: T,
  mean: number,
  std: number,
  generator: Generator | null,
): T {
  drawnFrom(generator, () => noGrad(() => drawNormal(tensor, mean, std)));
  return tensor;
}

function setAll(where: string, given: readonly unknown[], value: number): Tensor {
  const { tensor } = readArguments(where, { tensor: storedRule }, given);
  noGrad(() => fill_(tensor, value));
  return tensor;
}

function setTo(tensor: Tensor, make: () => Tensor): void {
  scope(() => noGrad(() => void copy_(tensor, make())));
}

function matrixShape(name: string, { shape }: Tensor): readonly [number, number] {
  const [rows, columns] = shape;
  if (shape.length === 2 && rows !== undefined && columns !== undefined) return [rows, columns];
  refuse(name, `expected a matrix, got the shape [${shape}].`);
}

function refuse(name: string, message: string): never {
  fail("InvalidArgument", name, message);
}
