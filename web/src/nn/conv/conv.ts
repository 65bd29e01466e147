import { readArguments } from "../../arguments/read.js";
import { boolean, count, either, type Options, oneOf, type Values } from "../../arguments/rule.js";
import { conv3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { conv1d, conv2d, pad } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments, type LayerOptions, perDimension } from "../layer_options.js";
import { Convolution, formatConvolution, type Sizes, sizesOf, spread } from "./convolution.js";

const kPaddingMode = oneOf("zeros", "reflect", "replicate", "circular");

const kNamedPadding = oneOf("valid", "same");

/** What a convolution sees beyond the border. */
export type PaddingMode = typeof kPaddingMode.type;

type Padding = Ints | typeof kNamedPadding.type;

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
const kConv3dArguments = { ...sizesOf(3), ...convOptions(3) };

/** Options of `Conv1d`, `Conv2d` and `Conv3d`. */
export type ConvOptions = Options<ReturnType<typeof convOptions> & typeof kLayerArguments>;

type ConvValues = Values<typeof kConv2dArguments>;

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

/** Convolution of a volume [batch, channels, depth, rows, columns]. */
export class Conv3d extends PaddedConvolution {
  constructor(...given: [...Sizes, ...ConvArguments]) {
    super(3, readArguments(new.target.name, kConv3dArguments, given));
  }

  protected override convolve(input: Tensor, padding: Padding): Tensor {
    const { weight, bias, stride, dilation, groups } = this;
    return conv3d(input, weight, bias, stride, padding, dilation, groups);
  }
}
