import { instanceNorm } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ChannelNorm, type ChannelNormClass, kInstanceNormArguments } from "./channel_norm.js";

// For inputs [batch?, channels, ...] with `spatial` dimensions after the channels.
function instanceNormLayer(spatial: number): ChannelNormClass {
  const unbatched = spatial + 1;
  return class extends ChannelNorm {
    constructor(...given: unknown[]) {
      super(kInstanceNormArguments, given);
    }

    override forward(input: Tensor): Tensor {
      this.checkDims(input, unbatched, unbatched + 1);
      const { running_mean: mean, running_var: variance, weight, bias, eps } = this;
      const batch = input.ndim === unbatched ? input.unsqueeze(0) : input;
      const usesInput = this.training || mean === null;
      const momentum = this.momentum ?? 0;
      const result = instanceNorm(batch, mean, variance, weight, bias, usesInput, momentum, eps);
      return input.ndim === unbatched ? result.squeeze(0) : result;
    }
  };
}

/** Brings every channel of every signal [batch?, channels, length] to mean 0 and variance 1. */
export class InstanceNorm1d extends instanceNormLayer(1) {}

/** Brings every channel of every image [batch?, channels, rows, columns] to mean 0 and variance 1. */
export class InstanceNorm2d extends instanceNormLayer(2) {}

/** Brings every channel of every volume [batch?, channels, depth, rows, columns] to mean 0 and variance 1. */
export class InstanceNorm3d extends instanceNormLayer(3) {}
