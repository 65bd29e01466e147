// Rules for convolutions. If every sample has a different weight, as in per-sample gradients, the samples become groups.

import { add, flatten, movedim, reshape } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Rule } from "./call.js";
import { runFolded } from "./folded.js";

/** Returns the rule of a convolution over `spatial` dimensions. */
export function convolution(spatial: number): Rule {
  return (call) => {
    const isPlain = !call.isBatched("weight") && !call.isBatched("bias");
    if (isPlain) return runFolded(call, ["input"], spatial + 1);
    const result = call.isBatched("weight")
      ? grouped(call, spatial)
      : (runFolded(call, ["input"], spatial + 1, { bias: null }) as Tensor);
    return call.operand("bias") === null ? result : add(result, biasFor(call, spatial, result));
  };
}

// Convolves samples that have different weights, without the bias.
function grouped(call: Call, spatial: number): Tensor {
  const { size } = call;
  const weight = flatten(call.batch("weight"), 0, 1);
  const hasBatch = call.rank("input") > spatial + 1;
  const channels = hasBatch ? 1 : 0;
  const groups = call.value<number>("groups");
  const isShared =
    !call.isBatched("input") && groups === 1 && !call.op.name.startsWith("convTranspose");
  const input = isShared ? call.value<Tensor>("input") : samplesAsChannels(call, hasBatch);
  const result = call.runOne({ input, weight, bias: null, groups: isShared ? 1 : groups * size });
  const { shape } = result;
  const own = (shape[channels] ?? 0) / Math.max(size, 1);
  const split = [...shape.slice(0, channels), size, own, ...shape.slice(channels + 1)];
  return movedim(reshape(result, split), channels, 0);
}

function samplesAsChannels(call: Call, hasBatch: boolean): Tensor {
  const batch = call.batch("input");
  return hasBatch ? flatten(movedim(batch, 0, 1), 1, 2) : flatten(batch, 0, 1);
}

function biasFor(call: Call, spatial: number, result: Tensor): Tensor {
  const bias = call.batch("bias");
  const ones = new Array(spatial).fill(1);
  const between = new Array(result.ndim - spatial - 2).fill(1);
  return reshape(bias, [call.size, ...between, bias.shape[1] ?? 0, ...ones]);
}
