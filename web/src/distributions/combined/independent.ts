import { readArguments } from "../../arguments/read.js";
import { Rule, size } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  type DistributionOptions,
  kDistributionOptions,
  type SampleShape,
  shapeOf,
} from "../base/arguments.js";
import { withFormulas } from "../base/declaration.js";
import { Distribution } from "../base/distribution.js";
import { sumRightmost } from "../base/numbers.js";
import { independent } from "../constraints/constraints.js";

export const distribution = /* @__PURE__ */ new Rule<Distribution>(
  "a distribution",
  (value) => value instanceof Distribution,
);

const kArguments = {
  baseDistribution: distribution,
  reinterpretedBatchNdims: size,
  ...kDistributionOptions,
};

interface Parts extends Distribution {
  readonly baseDist: Distribution;
  readonly reinterpretedBatchNdims: number;
}

/** A distribution whose last batch dimensions are reinterpreted as dimensions of the event. */
export class Independent<Base extends Distribution = Distribution> extends withFormulas({
  base: Distribution,
  support: ({ baseDist, reinterpretedBatchNdims: count }: Parts) =>
    count > 0 ? independent(baseDist.support, count) : baseDist.support,
  mean: ({ baseDist }: Parts) => baseDist.mean,
  mode: ({ baseDist }: Parts) => baseDist.mode,
  variance: ({ baseDist }: Parts) => baseDist.variance,
  sample: ({ baseDist }: Parts, _shape, sampleShape) => baseDist.sample(sampleShape),
  rsample: ({ baseDist }: Parts, _shape, sampleShape) => baseDist.rsample(sampleShape),
  entropy: (self: Parts) => sumRightmost(self.baseDist.entropy(), self.reinterpretedBatchNdims),
}) {
  /** The distribution before reinterpretation. */
  readonly baseDist: Base;
  /** How many batch dimensions belong to the event. */
  readonly reinterpretedBatchNdims: number;

  constructor(
    baseDistribution: Base,
    reinterpretedBatchNdims: number,
    validateArgs?: boolean | null,
  );
  constructor(
    baseDistribution: Base,
    reinterpretedBatchNdims: number,
    options?: DistributionOptions,
  );
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const call = readArguments(name, kArguments, given);
    const { baseDistribution: base, reinterpretedBatchNdims: count, validateArgs } = call;
    const batchNdim = base.batchShape.length;
    if (count > batchNdim) {
      const message = `reinterpretedBatchNdims: expected at most ${batchNdim}, the number of batch dimensions of baseDistribution, got ${count}.`;
      fail("InvalidArgument", name, message);
    }
    const batchShape = base.batchShape.slice(0, batchNdim - count);
    const eventShape = [...base.batchShape.slice(batchNdim - count), ...base.eventShape];
    super({ parameters: {}, batchShape, eventShape, validateArgs });
    this.baseDist = base as Base;
    this.reinterpretedBatchNdims = count;
  }

  override get hasRsample(): boolean {
    return this.baseDist.hasRsample;
  }

  override get hasEnumerateSupport(): boolean {
    return this.reinterpretedBatchNdims === 0 && this.baseDist.hasEnumerateSupport;
  }

  // The base distribution validates the value.
  override logProb(value: Tensor): Tensor {
    return sumRightmost(this.baseDist.logProb(value), this.reinterpretedBatchNdims);
  }

  protected override listSupport(expand: boolean): Tensor {
    if (this.reinterpretedBatchNdims > 0) {
      this.missing("enumerateSupport", " over the product of the values of its parts");
    }
    return this.baseDist.enumerateSupport(expand);
  }

  override expand(batchShape: SampleShape): this {
    const shape = shapeOf(this.whereIs("expand"), batchShape);
    const parts = this.eventShape.slice(0, this.reinterpretedBatchNdims);
    return this.changed({
      batchShape: shape,
      baseDist: this.baseDist.expand([...shape, ...parts]),
    });
  }

  override toString(): string {
    return `${this.constructor.name}(${this.baseDist}, ${this.reinterpretedBatchNdims})`;
  }
}
