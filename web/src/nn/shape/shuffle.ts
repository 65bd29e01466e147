// Layers that move elements between channels and places.

import { readArguments } from "../../arguments/read.js";
import { count } from "../../arguments/rule.js";
import { channelShuffle, pixelShuffle, pixelUnshuffle } from "../../composites/index.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

/** Makes images `upscaleFactor` times as high and wide of channels that are its square as many. */
export class PixelShuffle extends Module {
  readonly upscaleFactor: number;

  constructor(...given: [upscaleFactor: number]) {
    super();
    const { upscaleFactor } = readArguments(new.target.name, { upscaleFactor: count }, given);
    this.upscaleFactor = upscaleFactor;
  }

  override forward(input: Tensor): Tensor {
    return pixelShuffle(input, this.upscaleFactor);
  }

  override extraRepr(): string {
    return formatArguments([], { upscaleFactor: this.upscaleFactor });
  }
}

/** What PixelShuffle does, undone. */
export class PixelUnshuffle extends Module {
  readonly downscaleFactor: number;

  constructor(...given: [downscaleFactor: number]) {
    super();
    const { downscaleFactor } = readArguments(new.target.name, { downscaleFactor: count }, given);
    this.downscaleFactor = downscaleFactor;
  }

  override forward(input: Tensor): Tensor {
    return pixelUnshuffle(input, this.downscaleFactor);
  }

  override extraRepr(): string {
    return formatArguments([], { downscaleFactor: this.downscaleFactor });
  }
}

/** Takes channels from each of `groups` groups in turn. */
export class ChannelShuffle extends Module {
  readonly groups: number;

  constructor(...given: [groups: number]) {
    super();
    this.groups = readArguments(new.target.name, { groups: count }, given).groups;
  }

  override forward(input: Tensor): Tensor {
    return channelShuffle(input, this.groups);
  }

  override extraRepr(): string {
    return formatArguments([], { groups: this.groups });
  }
}
