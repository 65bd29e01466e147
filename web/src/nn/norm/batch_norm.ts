import { noGrad } from "../../autograd/grad_mode.js";
import { add_, batchNorm } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type BatchNormArguments, ChannelNorm, kBatchNormArguments } from "./channel_norm.js";

abstract class BatchNorm extends ChannelNorm {
  constructor(numFeatures: number, ...rest: BatchNormArguments) {
    super(kBatchNormArguments, [numFeatures, ...rest]);
  }

  override forward(input: Tensor): Tensor {
    const { running_mean, running_var, num_batches_tracked, weight, bias, eps } = this;
    let momentum = this.momentum ?? 0;
    if (this.training && num_batches_tracked !== null) {
      noGrad(() => add_(num_batches_tracked, 1));
      if (this.momentum === null) momentum = 1 / Number(num_batches_tracked.item());
    }
    const usesBatch = this.training || running_mean === null;
    return batchNorm(input, running_mean, running_var, weight, bias, usesBatch, momentum, eps);
  }
}

/** Brings every channel to mean 0 and variance 1 over a batch [batch, channels, length?]. */
export class BatchNorm1d extends BatchNorm {
  /** Returns the normalised batch. */
  override forward(input: Tensor): Tensor {
    this.checkDims(input, 2, 3);
    return super.forward(input);
  }
}

/** Brings every channel to mean 0 and variance 1 over a batch of images. */
export class BatchNorm2d extends BatchNorm {
  /** Returns the normalised batch. */
  override forward(input: Tensor): Tensor {
    this.checkDims(input, 4);
    return super.forward(input);
  }
}

/** Brings every channel to mean 0 and variance 1 over a batch of volumes [batch, channels, depth, rows, columns]. */
export class BatchNorm3d extends BatchNorm {
  /** Returns the normalised batch. */
  override forward(input: Tensor): Tensor {
    this.checkDims(input, 5);
    return super.forward(input);
  }
}
