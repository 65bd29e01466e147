import { instanceNorm } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type BatchNormArguments, ChannelNorm, kInstanceNormArguments } from "./channel_norm.js";

abstract class InstanceNorm extends ChannelNorm {
  constructor(numFeatures: number, ...rest: BatchNormArguments) {
    super(kInstanceNormArguments, [numFeatures, ...rest]);
  }

  /** Normalises inputs [batch?, channels, ...] with so many dimensions after the channels. */
  protected normalize(input: Tensor, spatial: number): Tensor {
    const unbatched = spatial + 1;
    this.checkDims(input, unbatched, unbatched + 1);
    const { running_mean, running_var, weight, bias, momentum, eps } = this;
    const batch = input.ndim === unbatched ? input.unsqueeze(0) : input;
    const usesInput = this.training || running_mean === null;
    const result = instanceNorm(
      batch,
      running_mean,
      running_var,
      weight,
      bias,
      usesInput,
      momentum ?? 0,
      eps,
    );
    return input.ndim === unbatched ? result.squeeze(0) : result;
  }
}

/** Brings every channel of every signal [batch?, channels, length] to mean 0 and variance 1. */
export class InstanceNorm1d extends InstanceNorm {
  override forward(input: Tensor): Tensor {
    return this.normalize(input, 1);
  }
}

/** Brings every channel of every image [batch?, channels, rows, columns] to mean 0 and variance 1. */
export class InstanceNorm2d extends InstanceNorm {
  override forward(input: Tensor): Tensor {
    return this.normalize(input, 2);
  }
}

/** Brings every channel of every volume [batch?, channels, depth, rows, columns] to mean 0 and variance 1. */
export class InstanceNorm3d extends InstanceNorm {
  override forward(input: Tensor): Tensor {
    return this.normalize(input, 3);
  }
}
