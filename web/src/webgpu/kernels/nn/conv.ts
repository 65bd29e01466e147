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

export const convolve: Kernel<Convolve> = {
  supported: { all: ["float32"] },

  play({ conv, x, weight, bias, y }, commands): void {
    const run = commands.isSoftware ? convolveSegments : convolveTiles;
    run(commands, { conv: convolutionOf(conv), from: x, weight, bias, to: y });
  },
};

export const convolveBackwardInput: Kernel<ConvolveBackwardInput> = {
  supported: { all: ["float32"] },

  play({ conv, gradY, weight, bias, gradX }, commands): void {
    const run = commands.isSoftware ? convolveSegmentsBackward : convolveTilesBackward;
    run(commands, { conv: convolutionOf(conv), from: gradY, weight, bias, to: gradX });
  },
};

export const convolveBackwardWeight: Kernel<ConvolveBackwardWeight> = {
  supported: { all: ["float32"] },

  play({ conv, gradY, x, gradWeight }, commands): void {
    const run = commands.isSoftware ? weightGradientSegments : weightGradientTiles;
    run(commands, { conv: convolutionOf(conv), g: gradY, x, to: gradWeight });
  },
};
