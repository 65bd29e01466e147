// Patches of images as columns, and back.

import type { Options } from "../../arguments/rule.js";
import { col2im, im2col } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared } from "../layer.js";
import { perDimension } from "../layer_options.js";

const kOptions = {
  /** The distance between elements of a patch; default 1. */
  dilation: perDimension(2, 1).or(1),
  /** What is added around the image; default 0. */
  padding: perDimension(2, 0).or(0),
  /** The distance between patches; default 1. */
  stride: perDimension(2, 1).or(1),
};

const kUnfold = {
  /** The size of a patch. */
  kernelSize: perDimension(2, 1),
  ...kOptions,
};

const kFold = {
  /** The rows and columns of the images. */
  outputSize: perDimension(2, 1),
  ...kUnfold,
};

/** Options of `Fold` and `Unfold`. */
export type FoldOptions = Options<typeof kOptions>;

type Positional = [dilation: Ints, padding: Ints, stride: Ints];

/** The patches of images [batch?, channels, rows, columns] as columns [batch?, channels * size of a patch, patches]. */
export class Unfold extends declared<
  ClassWith<[kernelSize: Ints], Positional, FoldOptions, typeof kUnfold>,
  typeof kUnfold
>(kUnfold) {
  override forward(input: Tensor): Tensor {
    return im2col(input, this.kernelSize, this.dilation, this.padding, this.stride);
  }
}

/** Images of `outputSize` that are the sum of patches, given as columns in the form that `Unfold` returns. */
export class Fold extends declared<
  ClassWith<[outputSize: Ints, kernelSize: Ints], Positional, FoldOptions, typeof kFold>,
  typeof kFold
>(kFold) {
  override forward(input: Tensor): Tensor {
    const { outputSize, kernelSize, dilation, padding, stride } = this;
    return col2im(input, outputSize, kernelSize, dilation, padding, stride);
  }
}
