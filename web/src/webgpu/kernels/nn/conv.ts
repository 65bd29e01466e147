// Convolution over planes, and its two gradients (src/kernels/conv.h).

import type {
  Convolve,
  ConvolveBackwardInput,
  ConvolveBackwardWeight,
} from "../../../generated/stream";
import type { Kernel } from "../kernel";
import { convolveSegments, convolveSegmentsBackward } from "./conv_segments";
import { convolveTiles, convolveTilesBackward, weightGradientTiles } from "./conv_tiles";
import { weightGradientSegments } from "./conv_weight_segments";
import { convolutionOf } from "./convolution";
import {
  convolvePointwise,
  convolvePointwiseBackward,
  isPointwise,
  isPointwiseGradient,
  weightGradientPointwise,
} from "./pointwise";

export const convolve: Kernel<Convolve> = {
  supported: { all: ["float32"] },

  play({ conv, x, weight, bias, y }, commands): void {
    const call = { conv: convolutionOf(conv), from: x, weight, bias, to: y };
    const run = commands.isSoftware ? convolveSegments : convolveTiles;
    (isPointwise(commands, call.conv) ? convolvePointwise : run)(commands, call);
  },
};

export const convolveBackwardInput: Kernel<ConvolveBackwardInput> = {
  supported: { all: ["float32"] },

  play({ conv, gradY, weight, bias, gradX }, commands): void {
    const call = { conv: convolutionOf(conv), from: gradY, weight, bias, to: gradX };
    const run = commands.isSoftware ? convolveSegmentsBackward : convolveTilesBackward;
    (isPointwise(commands, call.conv) ? convolvePointwiseBackward : run)(commands, call);
  },
};

export const convolveBackwardWeight: Kernel<ConvolveBackwardWeight> = {
  supported: { all: ["float32"] },

  play({ conv, gradY, x, gradWeight }, commands): void {
    const call = { conv: convolutionOf(conv), g: gradY, x, to: gradWeight };
    const run = commands.isSoftware ? weightGradientSegments : weightGradientTiles;
    (isPointwiseGradient(commands, call.conv) ? weightGradientPointwise : run)(commands, call);
  },
};
