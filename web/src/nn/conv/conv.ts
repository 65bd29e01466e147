import { readArguments } from "../../arguments/read.js";
import { boolean, count, either, type Options, oneOf } from "../../arguments/rule.js";
import { conv3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import { conv1d, conv2d, pad } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments, type LayerOptions, perDimension } from "../layer_options.js";
import { Convolution, formatConvolution, type Sizes, sizesOf, spread } from "./convolution.js";

const kPaddingMode = oneOf("zeros", "reflect", "replicate", "circular");

const kNamedPadding = oneOf("valid", "same");

/** How a convolution fills the border. */
export type PaddingMode = typeof kPaddingMode.type;

type Padding = Ints | typeof kNamedPadding.type;

function convOptions(spatial: number) {
  return {
    /** The distance between positions of the kernel; default 1. */
    stride: perDimension(spatial, 1).or(1),
    /** What is added around the input: sizes, "same" or "valid"; default 0. */
    padding: either(perDimension(spatial, 0), kNamedPadding).or(0),
    /** The distance between elements of the kernel; default 1. */
    dilation: perDimension(spatial, 1).or(1),
    /** The number of groups of channels that are convolved separately; default 1. */
    groups: count.or(1),
    /** Add a learned bias; default true. */
    bias: boolean.or(true),
    /** How the added border is filled; default "zeros". */
    paddingMode: kPaddingMode.or("zeros"),
    ...kLayerArguments,
  };
}

/** Options of `Conv1d`, `Conv2d` and `Conv3d`. */
export type ConvOptions = Options<ReturnType<typeof convOptions> & typeof kLayerArguments>;

/** The arguments after the kernel size, by position. */
export type ConvPositions = [
  stride?: Ints,
  padding?: Padding,
  dilation?: Ints,
  groups?: number,
  bias?: boolean,
  paddingMode?: PaddingMode,
  options?: LayerOptions,
];

/** A convolution that is not transposed. */
export interface ConvLayer extends Convolution {
  readonly padding: Padding;
  readonly paddingMode: PaddingMode;
  forward(input: Tensor): Tensor;
}

/** The class of a convolution that is not transposed. */
export interface ConvClass {
  new (...given: [...Sizes, ...ConvPositions]): ConvLayer;
  // Last, because TypeScript compares a call that fits no form with this one: it names the option that was meant.
  new (...given: [...Sizes, options?: ConvOptions]): ConvLayer;
}

type ConvOp = (
  input: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  stride: Ints,
  padding: Padding,
  dilation: Ints,
  groups: number,
) => Tensor;

function convLayer(spatial: number, op: ConvOp): ConvClass {
  const rules = { ...sizesOf(spatial), ...convOptions(spatial) };
  return class extends Convolution {
    readonly padding: Padding;
    readonly paddingMode: PaddingMode;

    constructor(...given: unknown[]) {
      const values = readArguments(new.target.name, rules, given);
      super(spatial, false, values);
      const { padding, paddingMode } = values;
      this.padding = typeof padding === "string" ? padding : spread(padding, spatial);
      this.paddingMode = paddingMode;
      if (padding === "same" && this.stride.some((step) => step !== 1)) {
        const message = `padding "same" requires stride 1, got ${this.stride.join(", ")}.`;
        fail("InvalidArgument", new.target.name, message);
      }
    }

    override forward(input: Tensor): Tensor {
      const { weight, bias, stride, dilation, groups, paddingMode } = this;
      if (paddingMode === "zeros") {
        return op(input, weight, bias, stride, this.padding, dilation, groups);
      }
      const padded = pad(input, bordersOf(this), paddingMode);
      return op(padded, weight, bias, stride, 0, dilation, groups);
    }

    override extraRepr(): string {
      return formatConvolution(this, this);
    }
  };
}

// Before and after each dimension, from the last on.
function bordersOf({ padding, kernelSize, dilation }: ConvLayer): number[] {
  const pairs = kernelSize.map((size, d): [number, number] => {
    const total = (dilation[d] ?? 1) * (size - 1);
    const before = Math.floor(total / 2);
    if (padding === "same") return [before, total - before];
    const both = padding === "valid" ? 0 : (spread(padding, kernelSize.length)[d] ?? 0);
    return [both, both];
  });
  return pairs.reverse().flat();
}

/** Convolution of a signal [batch, channels, length]. */
export class Conv1d extends convLayer(1, conv1d) {}

/** Convolution of an image [batch, channels, rows, columns]. */
export class Conv2d extends convLayer(2, conv2d) {}

/** Convolution of a volume [batch, channels, depth, rows, columns]. */
export class Conv3d extends convLayer(3, conv3d) {}
