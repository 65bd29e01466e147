// Layers that move elements between channels and pixels.

import { count } from "../../arguments/rule.js";
import { channelShuffle, pixelShuffle, pixelUnshuffle } from "../../composites/index.js";
import { layerOfOne } from "../layer.js";

const kUpscale = {
  /** How many times as high and wide the result is. */
  upscaleFactor: count,
};

/** Makes images `upscaleFactor` times as high and wide, from channels that are as many times more as its square. */
export class PixelShuffle extends layerOfOne<[upscaleFactor: number], typeof kUpscale>(
  kUpscale,
  pixelShuffle,
) {}

const kDownscale = {
  /** How many times less high and wide the result is. */
  downscaleFactor: count,
};

/** The inverse of PixelShuffle. */
export class PixelUnshuffle extends layerOfOne<[downscaleFactor: number], typeof kDownscale>(
  kDownscale,
  pixelUnshuffle,
) {}

const kGroups = {
  /** The number of groups. */
  groups: count,
};

/** Takes channels from each of `groups` groups in turn. */
export class ChannelShuffle extends layerOfOne<[groups: number], typeof kGroups>(
  kGroups,
  channelShuffle,
) {}
