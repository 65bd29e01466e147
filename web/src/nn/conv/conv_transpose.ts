import { readArguments } from "../../arguments/read.js";
import { boolean, count, listOf, type Options, size } from "../../arguments/rule.js";
import { convTranspose3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { convTranspose1d, convTranspose2d } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments, type LayerOptions, perDimension } from "../layer_options.js";
import { Convolution, formatConvolution, type Sizes, sizesOf, spread } from "./convolution.js";

function transposeOptions(spatial: number) {
  return {
    /** The distance between positions of the kernel; default 1. */
    stride: perDimension(spatial, 1).or(1),
    /** What is removed from every border of the result; default 0. */
    padding: perDimension(spatial, 0).or(0),
    /** What is added at the ends of the result, to choose among the sizes that a convolution maps to one; default 0. */
    outputPadding: perDimension(spatial, 0).or(0),
    /** The number of groups of channels that are convolved separately; default 1. */
    groups: count.or(1),
    /** Add a learned bias; default true. */
    bias: boolean.or(true),
    /** The distance between elements of the kernel; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    ...kLayerArguments,
  };
}

/** Options of the layers of transposed convolution. */
export type ConvTransposeOptions = Options<
  ReturnType<typeof transposeOptions> & typeof kLayerArguments
>;

/** The arguments after the kernel size, by position. */
export type ConvTransposePositions = [
  stride?: Ints,
  padding?: Ints,
  outputPadding?: Ints,
  groups?: number,
  bias?: boolean,
  dilation?: Ints,
  options?: LayerOptions,
];

const kOutputSize = listOf(size).orNull();

/** A transposed convolution. */
export interface ConvTransposeLayer extends Convolution {
  readonly padding: readonly number[];
  readonly outputPadding: readonly number[];
  /** Returns the result; `outputSize` chooses its sizes where a convolution maps several to those of the input. */
  forward(input: Tensor, outputSize?: readonly number[] | null): Tensor;
}

/** The class of a transposed convolution. */
export interface ConvTransposeClass {
  new (...given: [...Sizes, ...ConvTransposePositions]): ConvTransposeLayer;
  // Last, because TypeScript compares a call that fits no form with this one: it names the option that was meant.
  new (...given: [...Sizes, options?: ConvTransposeOptions]): ConvTransposeLayer;
}

type ConvTransposeOp = (
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: Ints,
  padding: Ints,
  outputPadding: Ints,
  groups: number,
  dilation: Ints,
) => Tensor;

function transposeLayer(spatial: number, op: ConvTransposeOp): ConvTransposeClass {
  const rules = { ...sizesOf(spatial), ...transposeOptions(spatial) };
  return class extends Convolution {
    readonly padding: readonly number[];
    readonly outputPadding: readonly number[];

    constructor(...given: unknown[]) {
      const values = readArguments(new.target.name, rules, given);
      super(spatial, true, values);
      this.padding = spread(values.padding, spatial);
      this.outputPadding = spread(values.outputPadding, spatial);
    }

    override forward(input: Tensor, outputSize?: readonly number[] | null): Tensor {
      const sizes = kOutputSize.check(this.constructor.name, "outputSize", outputSize);
      const ends = sizes === null ? this.outputPadding : paddingFor(this, input, sizes);
      const { weight, bias, stride, padding, groups, dilation } = this;
      return op(input, weight, bias, stride, padding, ends, groups, dilation);
    }

    override extraRepr(): string {
      return formatConvolution(this, this);
    }
  };
}

// Returns what to add at the ends so that the result has these sizes.
function paddingFor(
  layer: ConvTransposeLayer,
  input: Tensor,
  outputSize: readonly number[],
): number[] {
  const name = layer.constructor.name;
  const spatial = layer.kernelSize.length;
  const { shape } = tensorRule.check(name, "input", input);
  const lengths = shape.slice(-spatial);
  const wanted = outputSize.slice(-spatial);
  if (outputSize.length !== spatial && outputSize.length !== shape.length) {
    const message = `outputSize must have ${spatial} or ${shape.length} elements, got ${outputSize.length}.`;
    fail("InvalidArgument", name, message);
  }
  return wanted.map((size, d) => {
    const [stride = 1, dilation = 1] = [layer.stride[d], layer.dilation[d]];
    const reach = dilation * ((layer.kernelSize[d] ?? 1) - 1) + 1;
    const least = ((lengths[d] ?? 0) - 1) * stride - 2 * (layer.padding[d] ?? 0) + reach;
    const most = least + Math.max(stride, dilation) - 1;
    if (size >= least && size <= most) return size - least;
    const message = `outputSize [${wanted.join(", ")}]: dimension ${d} of the result can be from ${least} to ${most}.`;
    return fail("InvalidArgument", name, message);
  });
}

/** Transposed convolution of a signal: computes what the gradient of Conv1d is. */
export class ConvTranspose1d extends transposeLayer(1, convTranspose1d) {}

/** Transposed convolution of an image: computes what the gradient of Conv2d is. */
export class ConvTranspose2d extends transposeLayer(2, convTranspose2d) {}

/** Transposed convolution of a volume: computes what the gradient of Conv3d is. */
export class ConvTranspose3d extends transposeLayer(3, convTranspose3d) {}
