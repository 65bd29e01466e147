// Dropout of whole channels, and dropout that keeps mean and variance.

import type { Tensor } from "../../tensor/tensor.js";
import {
  alphaDropout,
  dropout1d,
  dropout2d,
  dropout3d,
  featureAlphaDropout,
} from "../functional_sampling.js";
import { DropoutLayer } from "./dropout.js";

/** In training, sets random channels of signals [batch?, channels, length] to zero and scales the others up. */
export class Dropout1d extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return dropout1d(input, this.p, this.training);
  }
}

/** In training, sets random channels of images [batch, channels, rows, columns] to zero and scales the others up. */
export class Dropout2d extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return dropout2d(input, this.p, this.training);
  }
}

/** In training, sets random channels of volumes [batch?, channels, depth, rows, columns] to zero and scales the others up. */
export class Dropout3d extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return dropout3d(input, this.p, this.training);
  }
}

/** In training, sets random elements to what SELU tends to for small numbers, and keeps mean and variance. */
export class AlphaDropout extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return alphaDropout(input, this.p, this.training);
  }
}

/** Like AlphaDropout, of whole channels. */
export class FeatureAlphaDropout extends DropoutLayer {
  protected override drop(input: Tensor): Tensor {
    return featureAlphaDropout(input, this.p, this.training);
  }
}
