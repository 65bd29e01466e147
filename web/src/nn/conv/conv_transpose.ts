import { readArguments } from "../../arguments/read.js";
import { boolean, count, listOf, type Options, size, type Values } from "../../arguments/rule.js";
import { convTranspose3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { convTranspose1d, convTranspose2d } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments, type LayerOptions, perDimension } from "../layer_options.js";
import { Convolution, formatConvolution, type Sizes, sizesOf, spread } from "./convolution.js";

function transposeOptions(spatial: number) {
  return {
    /** From one place of the kernel to the next; default 1. */
    stride: perDimension(spatial, 1).or(1),
    /** What is taken off every border of the result; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** What is added at the ends, to choose among the sizes a convolution maps to one. */
    outputPadding: perDimension(spatial, 0).or(0),
    /** Parts of the channels that do not see each other; default 1. */
    groups: count.or(1),
    /** Add a learned bias; default true. */
    bias: boolean.or(true),
    /** From one element of the kernel to the next; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    ...kLayerArguments,
  };
}

const kConvTranspose1dArguments = { ...sizesOf(1), ...transposeOptions(1) };
const kConvTranspose2dArguments = { ...sizesOf(2), ...transposeOptions(2) };
const kConvTranspose3dArguments = { ...sizesOf(3), ...transposeOptions(3) };

/** Options of the layers of transposed convolution. */
export type ConvTransposeOptions = Options<
  ReturnType<typeof transposeOptions> & typeof kLayerArguments
>;

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

const kOutputSize = listOf(size).orNull();

abstract class TransposedConvolution extends Convolution {
  readonly padding: readonly number[];
  readonly outputPadding: readonly number[];

  constructor(spatial: number, values: Values<typeof kConvTranspose2dArguments>) {
    super(spatial, true, values);
    this.padding = spread(values.padding, spatial);
    this.outputPadding = spread(values.outputPadding, spatial);
  }

  /** Returns the result, of `outputSize` where the convolution could have mapped several sizes to the input's. */
  override forward(input: Tensor, outputSize?: readonly number[] | null): Tensor {
    const sizes = kOutputSize.check(this.constructor.name, "outputSize", outputSize);
    return this.convolve(
      input,
      sizes === null ? this.outputPadding : this.paddingFor(input, sizes),
    );
  }

  protected abstract convolve(input: Tensor, outputPadding: readonly number[]): Tensor;

  // What has to be added at the ends so that the result has these sizes.
  private paddingFor(input: Tensor, outputSize: readonly number[]): number[] {
    const name = this.constructor.name;
    const spatial = this.kernelSize.length;
    const { shape } = tensorRule.check(name, "input", input);
    const lengths = shape.slice(-spatial);
    const wanted = outputSize.slice(-spatial);
    if (outputSize.length !== spatial && outputSize.length !== shape.length) {
      const told = `outputSize must have ${spatial} or ${shape.length} elements, got ${outputSize.length}.`;
      fail("InvalidArgument", name, told);
    }
    return wanted.map((size, d) => {
      const [stride = 1, dilation = 1] = [this.stride[d], this.dilation[d]];
      const reach = dilation * ((this.kernelSize[d] ?? 1) - 1) + 1;
      const least = ((lengths[d] ?? 0) - 1) * stride - 2 * (this.padding[d] ?? 0) + reach;
      const most = least + Math.max(stride, dilation) - 1;
      if (size >= least && size <= most) return size - least;
      const told = `requested an output size of [${wanted.join(", ")}], but valid sizes of dimension ${d} range from ${least} to ${most}.`;
      return fail("InvalidArgument", name, told);
    });
  }

  override extraRepr(): string {
    return formatConvolution(this, this);
  }
}

/** Transposed convolution of a signal: what the gradient of Conv1d does. */
export class ConvTranspose1d extends TransposedConvolution {
  constructor(...given: [...Sizes, ...ConvTransposeArguments]) {
    super(1, readArguments(new.target.name, kConvTranspose1dArguments, given));
  }

  protected override convolve(input: Tensor, outputPadding: readonly number[]): Tensor {
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose1d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
  }
}

/** Transposed convolution of an image: what the gradient of Conv2d does. */
export class ConvTranspose2d extends TransposedConvolution {
  constructor(...given: [...Sizes, ...ConvTransposeArguments]) {
    super(2, readArguments(new.target.name, kConvTranspose2dArguments, given));
  }

  protected override convolve(input: Tensor, outputPadding: readonly number[]): Tensor {
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose2d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
  }
}

/** Transposed convolution of a volume: what the gradient of Conv3d does. */
export class ConvTranspose3d extends TransposedConvolution {
  constructor(...given: [...Sizes, ...ConvTransposeArguments]) {
    super(3, readArguments(new.target.name, kConvTranspose3dArguments, given));
  }

  protected override convolve(input: Tensor, outputPadding: readonly number[]): Tensor {
    const { weight, bias, stride, padding, groups, dilation } = this;
    return convTranspose3d(input, weight, bias, stride, padding, outputPadding, groups, dilation);
  }
}
