import { readArguments } from "../../arguments/read.js";
import {
  boolean,
  count,
  either,
  type Options,
  oneOf,
  size,
  type Values,
} from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { conv1d, conv2d, convTranspose2d, empty, pad } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { fans, kaimingUniform_, uniform_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf, perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

const kPaddingMode = oneOf("zeros", "reflect", "replicate", "circular");

const kNamedPadding = oneOf("valid", "same");

/** What a convolution sees beyond the border. */
export type PaddingMode = typeof kPaddingMode.type;

type Padding = Ints | typeof kNamedPadding.type;

function sizesOf(spatial: number) {
  return { inChannels: size, outChannels: size, kernelSize: perDimension(spatial, 1) };
}

function convOptions(spatial: number) {
  return {
    /** From one place of the kernel to the next; default 1. */
    stride: perDimension(spatial, 1).or(1),
    /** What is added around the input: sizes, "same" or "valid"; default 0. */
    padding: either(perDimension(spatial, 0), kNamedPadding).or(0),
    /** From one element of the kernel to the next; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    /** Parts of the channels that do not see each other; default 1. */
    groups: count.or(1),
    /** Add a learned bias; default true. */
    bias: boolean.or(true),
    /** What the added border holds; default "zeros". */
    paddingMode: kPaddingMode.or("zeros"),
    ...kLayerArguments,
  };
}

const kConv1dArguments = { ...sizesOf(1), ...convOptions(1) };
const kConv2dArguments = { ...sizesOf(2), ...convOptions(2) };

const kConvTransposeOptions = {
  /** From one place of the kernel to the next; default 1. */
  stride: perDimension(2, 1).or(1),
  /** What is taken off every border of the result; default 0. */
  padding: perDimension(2, 0).or(0),
  /** Rows and columns added at the end, to choose among the sizes a convolution maps to one. */
  outputPadding: perDimension(2, 0).or(0),
  /** Parts of the channels that do not see each other; default 1. */
  groups: count.or(1),
  /** Add a learned bias; default true. */
  bias: boolean.or(true),
  /** From one element of the kernel to the next; default 1. */
  dilation: perDimension(2, 1).or(1),
  ...kLayerArguments,
};

const kConvTransposeArguments = { ...sizesOf(2), ...kConvTransposeOptions };

/** Options of `Conv1d` and `Conv2d`. */
export type ConvOptions = Options<ReturnType<typeof convOptions>>;

/** Options of `ConvTranspose2d`. */
export type ConvTransposeOptions = Options<typeof kConvTransposeOptions>;

type ConvValues = Values<typeof kConv2dArguments>;

type SharedValues = Omit<ConvValues, "padding" | "paddingMode">;

// What the convolutions share: their parameters, and how they are drawn.
abstract class Convolution extends Module {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
  weight: Parameter;
  bias: Parameter | null;

  constructor(spatial: number, isTransposed: boolean, values: SharedValues) {
    super();
    const name = new.target.name;
    const { inChannels, outChannels, groups, device, dtype } = values;
    for (const [what, channels] of [
      ["in_channels", inChannels],
      ["out_channels", outChannels],
    ] as const) {
      if (channels % groups === 0) continue;
      fail("InvalidArgument", name, `${what} must be divisible by groups`);
    }
    this.inChannels = inChannels;
    this.outChannels = outChannels;
    this.kernelSize = spread(values.kernelSize, spatial);
    this.stride = spread(values.stride, spatial);
    this.dilation = spread(values.dilation, spatial);
    this.groups = groups;
    const [first, second] = isTransposed ? [inChannels, outChannels] : [outChannels, inChannels];
    const [shape, kind] = [[first, second / groups, ...this.kernelSize], { device, dtype }];
    this.weight = parameterOf(name, empty, shape, kind);
    this.bias = values.bias ? parameterOf(name, empty, [outChannels], kind) : null;
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
    /** What the added border holds; default "zeros". */
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
  readonly padding: Padding;
  readonly paddingMode: PaddingMode;

  constructor(spatial: number, values: ConvValues) {
    super(spatial, false, values);
    const { padding, paddingMode } = values;
    this.padding = typeof padding === "string" ? padding : spread(padding, spatial);
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
    return this.convolve(pad(input, this.borders(), this.paddingMode), 0);
  }

  protected abstract convolve(input: Tensor, padding: Padding): Tensor;

  // Before and after each dimension, from the last on.
  private borders(): number[] {
    const { padding } = this;
    const pairs = this.kernelSize.map((size, d): [number, number] => {
      const total = (this.dilation[d] ?? 1) * (size - 1);
      const before = Math.floor(total / 2);
      if (padding === "same") return [before, total - before];
      const both = padding === "valid" ? 0 : (spread(padding, this.kernelSize.length)[d] ?? 0);
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
  constructor(...given: [...Sizes, ...ConvArguments]) {
    super(1, readArguments(new.target.name, kConv1dArguments, given));
  }

  protected override convolve(input: Tensor, padding: Padding): Tensor {
    const { weight, bias, stride, dilation, groups } = this;
    return conv1d(input, weight, bias, stride, padding, dilation, groups);
  }
}

/** Convolution of an image [batch, channels, rows, columns]. */
export class Conv2d extends PaddedConvolution {
  constructor(...given: [...Sizes, ...ConvArguments]) {
    super(2, readArguments(new.target.name, kConv2dArguments, given));
  }

  protected override convolve(input: Tensor, padding: Padding): Tensor {
    const { weight, bias, stride, dilation, groups } = this;
    return conv2d(input, weight, bias, stride, padding, dilation, groups);
  }
}

/** Transposed convolution of an image: what the gradient of Conv2d does. */
export class ConvTranspose2d extends Convolution {
  readonly padding: readonly number[];
  readonly outputPadding: readonly number[];

  constructor(...given: [...Sizes, ...ConvTransposeArguments]) {
    const values = readArguments(new.target.name, kConvTransposeArguments, given);
    super(2, true, values);
    this.padding = spread(values.padding, 2);
    this.outputPadding = spread(values.outputPadding, 2);
  }

  override forward(input: Tensor): Tensor {
    const { weight, bias, stride, padding, outputPadding, groups, dilation } = this;
    return convTranspose2d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
  }

  override extraRepr(): string {
    return formatConvolution(this, this);
  }
}

type Sizes = [inChannels: number, outChannels: number, kernelSize: Ints];

/** The arguments after the kernel size, by position or as options. */
export type ConvArguments =
  | [options?: ConvOptions]
  | [
      stride?: Ints,
      padding?: Padding,
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

function spread(values: Ints, spatial: number): readonly number[] {
  return typeof values === "number" ? new Array<number>(spatial).fill(values) : values;
}
