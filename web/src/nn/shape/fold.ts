// Patches of images as columns, and back.

import { type Arguments, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { col2im, im2col } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import type { Tensor } from "../../tensor/tensor.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

const kOptions = {
  /** From one element of a patch to the next; default 1. */
  dilation: perDimension(2, 1).or(1),
  /** What is added around the image; default 0. */
  padding: perDimension(2, 0).or(0),
  /** From one patch to the next; default 1. */
  stride: perDimension(2, 1).or(1),
};

const kUnfoldArguments = { kernelSize: perDimension(2, 1), ...kOptions };

const kFoldArguments = { outputSize: perDimension(2, 1), ...kUnfoldArguments };

/** Options of `Fold` and `Unfold`. */
export type FoldOptions = Options<typeof kOptions>;

type Rest = Arguments<[dilation: Ints, padding: Ints, stride: Ints], FoldOptions>;

abstract class Patches extends Module {
  readonly kernelSize: Ints;
  readonly dilation: Ints;
  readonly padding: Ints;
  readonly stride: Ints;

  constructor(own: { kernelSize: Ints; dilation: Ints; padding: Ints; stride: Ints }) {
    super();
    this.kernelSize = own.kernelSize;
    this.dilation = own.dilation;
    this.padding = own.padding;
    this.stride = own.stride;
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    const { kernelSize, dilation, padding, stride } = this;
    return formatArguments([], { kernelSize, dilation, padding, stride });
  }
}

/** The patches of images [batch?, channels, rows, columns] as columns [batch?, channels * size of a patch, patches]. */
export class Unfold extends Patches {
  constructor(...given: [kernelSize: Ints, ...rest: Rest]) {
    super(readArguments(new.target.name, kUnfoldArguments, given));
  }

  override forward(input: Tensor): Tensor {
    return im2col(input, this.kernelSize, this.dilation, this.padding, this.stride);
  }
}

/** Images of `outputSize` that are the sum of patches, which are columns as `Unfold` gives them. */
export class Fold extends Patches {
  readonly outputSize: Ints;

  constructor(...given: [outputSize: Ints, kernelSize: Ints, ...rest: Rest]) {
    const { outputSize, ...own } = readArguments(new.target.name, kFoldArguments, given);
    super(own);
    this.outputSize = outputSize;
  }

  override forward(input: Tensor): Tensor {
    const { outputSize, kernelSize, dilation, padding, stride } = this;
    return col2im(input, outputSize, kernelSize, dilation, padding, stride);
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    const size = formatArguments([], { outputSize: this.outputSize });
    return `${size}, ${super.extraRepr()}`;
  }
}
