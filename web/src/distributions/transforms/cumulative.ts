import { readArguments } from "../../arguments/read.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Distribution } from "../base/distribution.js";
import { distribution } from "../combined/independent.js";
import { type Constraint, unitInterval } from "../constraints/constraints.js";
import { kTransformOptions, Transform, type TransformArguments } from "./transform.js";

const kArguments = { distribution, ...kTransformOptions };

/** Takes values to the probability of values up to them under a distribution. */
export class CumulativeDistributionTransform extends Transform {
  readonly distribution: Distribution;

  constructor(...given: [distribution: Distribution, ...rest: TransformArguments]) {
    const { distribution, cacheSize } = readArguments(new.target.name, kArguments, given);
    super({ cacheSize });
    this.distribution = distribution;
  }

  override get tensors(): readonly Tensor[] {
    return this.distribution.tensors;
  }

  override get domain(): Constraint {
    return this.distribution.support;
  }

  override get codomain(): Constraint {
    return unitInterval;
  }

  override get sign(): number {
    return 1;
  }

  protected override forward(x: Tensor): Tensor {
    return this.distribution.cdf(x);
  }

  protected override invert(y: Tensor): Tensor {
    return this.distribution.icdf(y);
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    return this.distribution.logProb(x);
  }
}
