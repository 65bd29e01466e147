import { readArguments } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  kDistributionOptions,
  type SampleShape,
  shapeOf,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import type { Constraint } from "../constraints/constraints.js";
import { Categorical } from "../discrete/categorical.js";
import { distribution } from "./independent.js";

const kArguments = {
  mixtureDistribution: /* @__PURE__ */ new Rule<Categorical>(
    "a Categorical",
    (value) => value instanceof Categorical,
  ),
  componentDistribution: distribution,
  ...kDistributionOptions,
};

/** Mixtures: a value comes from one of the distributions along the last dimension of the batch, which a `Categorical` chooses. */
export class MixtureSameFamily<Component extends Distribution = Distribution> extends Distribution {
  /** How likely each component is. */
  readonly mixtureDistribution: Categorical;
  /** The components, along the last dimension of the batch. */
  readonly componentDistribution: Component;

  constructor(
    ...given: [
      mixtureDistribution: Categorical,
      componentDistribution: Component,
      ...rest: Validation,
    ]
  ) {
    const name = new.target.name;
    const call = readArguments(name, kArguments, given);
    const { mixtureDistribution, componentDistribution, validateArgs } = call;
    const batchShape = componentDistribution.batchShape.slice(0, -1);
    broadcastShapes(name, mixtureDistribution.batchShape, batchShape);
    const weights = mixtureDistribution.logits.shape.at(-1);
    const components = componentDistribution.batchShape.at(-1);
    if (weights !== components) {
      const told = `mixtureDistribution has ${weights} components, but componentDistribution.batchShape is [${componentDistribution.batchShape}].`;
      fail("ShapeMismatch", name, told);
    }
    const { eventShape } = componentDistribution;
    super({ parameters: {}, batchShape, eventShape, validateArgs });
    this.mixtureDistribution = mixtureDistribution;
    this.componentDistribution = componentDistribution as Component;
  }

  override get support(): Constraint {
    return this.componentDistribution.support;
  }

  override get mean(): Tensor {
    return this.averaged(this.componentDistribution.mean);
  }

  override get variance(): Tensor {
    const { mean, variance } = this.componentDistribution;
    const distances = mean.sub(this.padded(this.mean));
    return this.averaged(variance).add(this.averaged(distances.square()));
  }

  override sample(shape: SampleShape = []): Tensor {
    const sampleShape = shapeOf(this.whereIs("sample"), shape);
    return noGrad(() => {
      const chosen = this.mixtureDistribution.sample(sampleShape);
      const values = this.componentDistribution.sample(sampleShape);
      const dim = sampleShape.length + this.batchShape.length;
      const index = chosen.reshape([...chosen.shape, 1, ...this.eventShape.map(() => 1)]);
      const wanted = [...sampleShape, ...this.batchShape, 1, ...this.eventShape];
      return values.gather(dim, index.expand(wanted)).squeeze(dim);
    });
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const each = this.componentDistribution.logProb(this.padded(value));
    return each.add(this.mixtureDistribution.logits.logSoftmax(-1)).logsumexp(-1);
  }

  override cdf(value: Tensor): Tensor {
    this.checkTensor("cdf", value);
    const each = this.componentDistribution.cdf(this.padded(value));
    return each.mul(this.mixtureDistribution.probs).sum(-1);
  }

  override expand(batchShape: SampleShape): this {
    const shape = shapeOf(this.whereIs("expand"), batchShape);
    const count = this.componentDistribution.batchShape.at(-1) as number;
    return this.changed({
      batchShape: shape,
      mixtureDistribution: this.mixtureDistribution.expand(shape),
      componentDistribution: this.componentDistribution.expand([...shape, count]),
    });
  }

  override toString(): string {
    const { mixtureDistribution, componentDistribution } = this;
    return `${this.constructor.name}(${mixtureDistribution}, ${componentDistribution})`;
  }

  /** Returns `value` with a dimension for the components. */
  private padded(value: Tensor): Tensor {
    return value.unsqueeze(-1 - this.eventShape.length);
  }

  private averaged(values: Tensor): Tensor {
    const { probs } = this.mixtureDistribution;
    const weights = probs.reshape([...probs.shape, ...this.eventShape.map(() => 1)]);
    return values.mul(weights).sum(-1 - this.eventShape.length);
  }
}
