// Distributions that are a standard one, scaled and moved.

import { readArguments } from "../../arguments/read.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { type Constraint, positive, real } from "../constraints/constraints.js";

export const kLocationScaleArguments = {
  loc: parameter,
  scale: parameter,
  ...kDistributionOptions,
};

/** Distributions over all numbers with a place and a width. */
export abstract class LocationScale extends Distribution<Record<"loc" | "scale", Tensor>> {
  constructor(...given: [loc: Parameter, scale: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kLocationScaleArguments, given);
    const [loc, scale] = broadcastAll(name, values.loc, values.scale);
    super({ parameters: { loc, scale }, batchShape: loc.shape, validateArgs });
  }

  /** Where the distribution is. */
  get loc(): Tensor {
    return this.parameters.loc;
  }

  /** How wide the distribution is. */
  get scale(): Tensor {
    return this.parameters.scale;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { loc: real, scale: positive };
  }

  override get support(): Constraint {
    return real;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mode(): Tensor {
    return this.loc;
  }

  /** Returns how many scales `value` is above `loc`. */
  protected standardized(value: Tensor): Tensor {
    return value.sub(this.loc).div(this.scale);
  }
}
