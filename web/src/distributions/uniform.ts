import { readArguments } from "../arguments/read.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "./arguments.js";
import { type Constraint, dependent, interval } from "./constraints.js";
import { Distribution } from "./distribution.js";
import { holdsEverywhere } from "./numbers.js";
import { uniformUnit } from "./random.js";

const kArguments = { low: parameter, high: parameter, ...kDistributionOptions };

/** Uniform distributions of numbers from `low` to below `high`. */
export class Uniform extends Distribution<Record<"low" | "high", Tensor>> {
  constructor(...given: [low: Parameter, high: Parameter, ...rest: Validation]) {
    const name = new.target.name;
    const { validateArgs, ...values } = readArguments(name, kArguments, given);
    const [low, high] = broadcastAll(name, values.low, values.high);
    super({ parameters: { low, high }, batchShape: low.shape, validateArgs });
    if (!this.validatesArgs || holdsEverywhere(() => low.lt(high))) return;
    const told = `Uniform is not defined when low >= high: low is\n${low.detach()}\nand high\n${high.detach()}`;
    fail("InvalidArgument", name, told);
  }

  /** The least value. */
  get low(): Tensor {
    return this.parameters.low;
  }

  /** The end of the values. */
  get high(): Tensor {
    return this.parameters.high;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { low: dependent, high: dependent };
  }

  override get support(): Constraint {
    return interval(this.low, this.high);
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.high.add(this.low).div(2);
  }

  override get mode(): Tensor {
    return this.high.mul(Number.NaN);
  }

  override get variance(): Tensor {
    return this.width.square().div(12);
  }

  override get stddev(): Tensor {
    return this.width.div(Math.sqrt(12));
  }

  override rsample(shape: SampleShape = []): Tensor {
    const unit = uniformUnit(this.extendedShape("rsample", shape), this.low);
    return this.low.add(unit.mul(this.width));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const isInside = this.low.le(value).logicalAnd(this.high.gt(value));
    return isInside.to(this.low.dtype).log().sub(this.width.log());
  }

  override cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return value.sub(this.low).div(this.width).clamp(0, 1);
  }

  override icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return value.mul(this.width).add(this.low);
  }

  override entropy(): Tensor {
    return this.width.log();
  }

  private get width(): Tensor {
    return this.high.sub(this.low);
  }
}
