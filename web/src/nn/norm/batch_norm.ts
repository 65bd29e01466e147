import { noGrad } from "../../autograd/grad_mode.js";
import { add_, batchNorm } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { ChannelNorm, type ChannelNormClass, kBatchNormArguments } from "./channel_norm.js";
import { kDropRunningStats } from "./running_stats.js";

// `dims` are the numbers of dimensions that an input may have.
function batchNormLayer(...dims: number[]): ChannelNormClass {
  return class extends ChannelNorm {
    constructor(...given: unknown[]) {
      super(kBatchNormArguments, given);
    }

    /** Lets the running statistics go. @internal */
    [kDropRunningStats](): void {
      this.running_mean = null;
      this.running_var = null;
      this.num_batches_tracked = null;
      (this as { trackRunningStats: boolean }).trackRunningStats = false;
    }

    /** Returns the normalized batch. */
    override forward(input: Tensor): Tensor {
      this.checkDims(input, ...dims);
      const { running_mean, running_var, num_batches_tracked, weight, bias, eps } = this;
      let momentum = this.momentum ?? 0;
      if (this.training && num_batches_tracked !== null) {
        noGrad(() => add_(num_batches_tracked, 1));
        if (this.momentum === null) momentum = 1 / Number(num_batches_tracked.item());
      }
      const usesBatch = this.training || running_mean === null;
      return batchNorm(input, running_mean, running_var, weight, bias, usesBatch, momentum, eps);
    }
  };
}

/** Brings every channel to mean 0 and variance 1 over a batch [batch, channels, length?]. */
export class BatchNorm1d extends batchNormLayer(2, 3) {}

/** Brings every channel to mean 0 and variance 1 over a batch of images. */
export class BatchNorm2d extends batchNormLayer(4) {}

/** Brings every channel to mean 0 and variance 1 over a batch of volumes [batch, channels, depth, rows, columns]. */
export class BatchNorm3d extends batchNormLayer(5) {}
