// Images as sequences of patches.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { unloaded } from "./linear.js";

/** The sizes of images and patches. */
export interface PatchSizes {
  readonly channels: number;
  readonly hidden: number;
  readonly patch: number;
  /** The number of pixels of a side; null for images of any size. */
  readonly image: number | null;
  readonly bias: boolean;
}

/** A convolution whose stride equals its kernel size: one vector per patch. */
export class PatchConv extends eg.nn.Conv2d {
  readonly image: number | null;

  constructor({ channels, hidden, patch, image, bias }: PatchSizes) {
    super(channels, hidden, patch, { stride: patch, bias });
    this.image = image;
    this.weight = unloaded(hidden, channels, patch, patch);
    if (bias) this.bias = unloaded(hidden);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const [, channels, height, width] = pixels.shape as [number, number, number, number];
    const { image, inChannels } = this;
    const isSize = (size: number) => image === null || size === image;
    if (channels !== inChannels || !isSize(height) || !isSize(width)) {
      const side = image ?? "any";
      const wanted = `[batch, ${inChannels}, ${side}, ${side}]`;
      const got = `[${pixels.shape.join(", ")}]`;
      fail("ShapeMismatch", "pixels", `expected ${wanted}, got ${got}: resize the images.`);
    }
    return super.forward(pixels.to(this.weight.dtype));
  }
}
