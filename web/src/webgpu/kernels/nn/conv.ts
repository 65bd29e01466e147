// Convolution over planes, and its two gradients (src/kernels/conv.h).

import type { Reader } from "../../stream";
import type { Commands, Kernel } from "../kernel";
import { convolveSegments, convolveSegmentsBackward } from "./conv_segments";
import { convolveTiles, convolveTilesBackward, weightGradientTiles } from "./conv_tiles";
import { weightGradientSegments } from "./conv_weight_segments";
import { type Gathered, readConvolution } from "./convolution";

function readGathered(fields: Reader): Gathered {
  return {
    conv: readConvolution(fields),
    from: fields.in(),
    weight: fields.in(),
    bias: fields.optionalIn(),
    to: fields.out(),
  };
}

export const convolve: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const run = commands.isSoftware ? convolveSegments : convolveTiles;
    run(commands, readGathered(fields));
  },
};

export const convolveBackwardInput: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const run = commands.isSoftware ? convolveSegmentsBackward : convolveTilesBackward;
    run(commands, readGathered(fields));
  },
};

export const convolveBackwardWeight: Kernel = {
  supported: { all: ["float32"] },

  play(fields: Reader, commands: Commands): void {
    const conv = readConvolution(fields);
    const run = commands.isSoftware ? weightGradientSegments : weightGradientTiles;
    run(commands, { conv, g: fields.in(), x: fields.in(), to: fields.out() });
  },
};
