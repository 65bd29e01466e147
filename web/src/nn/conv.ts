import { conv1d, conv2d, convTranspose2d, empty, pad } from "../generated/ops.js";
import type { Ints } from "../ops/types.js";
import { fail } from "../runtime/errors.js";
import { namedArguments } from "../runtime/named_arguments.js";
import type { Tensor } from "../tensor/tensor.js";
import { fans, kaimingUniform_, uniform_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** What a convolution sees beyond the border. */
export type PaddingMode = "zeros" | "reflect" | "replicate" | "circular";

/** Options of `Conv1d` and `Conv2d`. */
export interface ConvOptions extends LayerOptions {
  stride?: Ints;
  padding?: Ints | "valid" | "same";
  dilation?: Ints;
  groups?: number;
  /** Add a learned bias; default true. */
  bias?: boolean;
  paddingMode?: PaddingMode;
}

/** Options of `ConvTranspose2d`. */
export interface ConvTransposeOptions extends LayerOptions {
  stride?: Ints;
  padding?: Ints;
  /** Rows and columns added at the end, to choose among the sizes a convolution maps to one. */
  outputPadding?: Ints;
  groups?: number;
  /** Add a learned bias; default true. */
  bias?: boolean;
  dilation?: Ints;
}

// What the convolutions share: their parameters, and how they are drawn.
abstract class Convolution extends Module {
  readonly kernelSize: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
  weight: Parameter;
  bias: Parameter | null;

  constructor(
    readonly inChannels: number,
    readonly outChannels: number,
    kernelSize: Ints,
    spatial: number,
    isTransposed: boolean,
    options: ConvOptions | ConvTransposeOptions,
  ) {
    super();
    const { stride = 1, dilation = 1, groups = 1, bias = true, dtype, device } = options;
    if (!(groups > 0))
      fail("InvalidArgument", this.constructor.name, "groups must be a positive integer");
    for (const [name, channels] of Object.entries({
      in_channels: inChannels,
      out_channels: outChannels,
    })) {
      if (channels % groups === 0) continue;
      fail("InvalidArgument", this.constructor.name, `${name} must be divisible by groups`);
    }
    this.kernelSize = perDimension(kernelSize, spatial);
    this.stride = perDimension(stride, spatial);
    this.dilation = perDimension(dilation, spatial);
    this.groups = groups;
    const [first, second] = isTransposed ? [inChannels, outChannels] : [outChannels, inChannels];
    const where = { ...(dtype && { dtype }), ...(device && { device }) };
    this.weight = parameterFrom(empty([first, second / groups, ...this.kernelSize], where));
    this.bias = bias ? parameterFrom(empty([outChannels], where)) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    if (this.bias === null) return;
    const { fanIn } = fans(this.weight);
    if (fanIn === 0) return;
    uniform_(this.bias, -1 / Math.sqrt(fanIn), 1 / Math.sqrt(fanIn));
  }
}

// Leaves out what most convolutions do not have.
function formatConvolution(
  layer: Convolution,
  rest: { padding: Ints | string; outputPadding?: Ints; paddingMode?: PaddingMode },
): string {
  const { kernelSize, stride, dilation, groups, bias } = layer;
  const { padding, outputPadding = 0, paddingMode = "zeros" } = rest;
  return formatArguments([layer.inChannels, layer.outChannels], {
    kernelSize,
    stride,
    padding: unlessAll(0, padding),
    dilation: unlessAll(1, dilation),
    outputPadding: unlessAll(0, outputPadding),
    groups: unlessAll(1, groups),
    bias: bias === null ? false : undefined,
    paddingMode: paddingMode === "zeros" ? undefined : paddingMode,
  });
}

function unlessAll<T extends Ints | string>(usual: number, values: T): T | undefined {
  const isUsual =
    typeof values === "object" ? values.every((value) => value === usual) : values === usual;
  return isUsual ? undefined : values;
}

// A plain convolution: padding by name, and by other things than zeros.
abstract class PaddedConvolution extends Convolution {
  readonly padding: Ints | "valid" | "same";
  readonly paddingMode: PaddingMode;

  constructor(
    inChannels: number,
    outChannels: number,
    kernelSize: Ints,
    spatial: number,
    options: ConvOptions,
  ) {
    super(inChannels, outChannels, kernelSize, spatial, false, options);
    const { padding = 0, paddingMode = "zeros" } = options;
    this.padding = typeof padding === "string" ? padding : perDimension(padding, spatial);
    this.paddingMode = paddingMode;
    if (padding === "same" && this.stride.some((step) => step !== 1)) {
      fail(
        "InvalidArgument",
        this.constructor.name,
        "padding='same' is not supported for strided convolutions",
      );
    }
  }

  override forward(input: Tensor): Tensor {
    if (this.paddingMode === "zeros") return this.convolve(input, this.padding);
    return this.convolve(pad(input, this.#borders(), this.paddingMode), 0);
  }

  protected abstract convolve(input: Tensor, padding: Ints | "valid" | "same"): Tensor;

  // Before and after each dimension, from the last on.
  #borders(): number[] {
    const { padding } = this;
    const pairs = this.kernelSize.map((size, d): [number, number] => {
      const total = (this.dilation[d] ?? 1) * (size - 1);
      const before = Math.floor(total / 2);
      if (padding === "same") return [before, total - before];
      const both =
        padding === "valid" ? 0 : (perDimension(padding, this.kernelSize.length)[d] ?? 0);
      return [both, both];
    });
    return pairs.reverse().flat();
  }

  override extraRepr(): string {
    return formatConvolution(this, this);
  }
}

/** Convolution of a signal [batch, channels, length]. */
export class Conv1d extends PaddedConvolution {
  constructor(inChannels: number, outChannels: number, kernelSize: Ints, ...rest: ConvArguments) {
    super(inChannels, outChannels, kernelSize, 1, namedArguments<ConvOptions>(kConvNames, rest));
  }

  protected override convolve(input: Tensor, padding: Ints | "valid" | "same"): Tensor {
    const { weight, bias, stride, dilation, groups } = this;
    return conv1d(input, weight, bias, stride, padding, dilation, groups);
  }
}

/** Convolution of an image [batch, channels, rows, columns]. */
export class Conv2d extends PaddedConvolution {
  constructor(inChannels: number, outChannels: number, kernelSize: Ints, ...rest: ConvArguments) {
    super(inChannels, outChannels, kernelSize, 2, namedArguments<ConvOptions>(kConvNames, rest));
  }

  protected override convolve(input: Tensor, padding: Ints | "valid" | "same"): Tensor {
    const { weight, bias, stride, dilation, groups } = this;
    return conv2d(input, weight, bias, stride, padding, dilation, groups);
  }
}

/** Transposed convolution of an image: what the gradient of Conv2d does. */
export class ConvTranspose2d extends Convolution {
  readonly padding: readonly number[];
  readonly outputPadding: readonly number[];

  constructor(
    inChannels: number,
    outChannels: number,
    kernelSize: Ints,
    ...rest: ConvTransposeArguments
  ) {
    const options = namedArguments<ConvTransposeOptions>(kConvTransposeNames, rest);
    super(inChannels, outChannels, kernelSize, 2, true, options);
    this.padding = perDimension(options.padding ?? 0, 2);
    this.outputPadding = perDimension(options.outputPadding ?? 0, 2);
  }

  override forward(input: Tensor): Tensor {
    const { weight, bias, stride, padding, outputPadding, groups, dilation } = this;
    return convTranspose2d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
  }

  override extraRepr(): string {
    return formatConvolution(this, this);
  }
}

/** The arguments after the kernel size, by position or as options. */
export type ConvArguments =
  | [options?: ConvOptions]
  | [
      stride?: Ints,
      padding?: Ints | "valid" | "same",
      dilation?: Ints,
      groups?: number,
      bias?: boolean,
      paddingMode?: PaddingMode,
      options?: LayerOptions,
    ];

/** The arguments after the kernel size, by position or as options. */
export type ConvTransposeArguments =
  | [options?: ConvTransposeOptions]
  | [
      stride?: Ints,
      padding?: Ints,
      outputPadding?: Ints,
      groups?: number,
      bias?: boolean,
      dilation?: Ints,
      options?: LayerOptions,
    ];

const kConvNames = ["stride", "padding", "dilation", "groups", "bias", "paddingMode"] as const;
const kConvTransposeNames = [
  "stride",
  "padding",
  "outputPadding",
  "groups",
  "bias",
  "dilation",
] as const;

function perDimension(values: Ints, spatial: number): readonly number[] {
  return typeof values === "number" ? new Array<number>(spatial).fill(values) : values;
}
