import { readArguments } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type DistributionOptions,
  kDistributionOptions,
  type SampleShape,
  shapeOf,
} from "../base/arguments.js";
import { withFormulas } from "../base/declaration.js";
import { Distribution } from "../base/distribution.js";
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

interface Mixture extends Distribution {
  readonly mixtureDistribution: Categorical;
  readonly componentDistribution: Distribution;
}

/** Mixture of the distributions along the last batch dimension, weighted by a `Categorical`. */
export class MixtureSameFamily<Component extends Distribution = Distribution> extends withFormulas({
  base: Distribution,
  support: ({ componentDistribution }: Mixture) => componentDistribution.support,
  mean: (self: Mixture) => averaged(self, self.componentDistribution.mean),
  variance(self: Mixture) {
    const { mean, variance } = self.componentDistribution;
    const distances = mean.sub(padded(self, self.mean));
    return averaged(self, variance).add(averaged(self, distances.square()));
  },
  sample(self: Mixture, _shape, sampleShape) {
    const { batchShape, eventShape } = self;
    const chosen = self.mixtureDistribution.sample(sampleShape);
    const values = self.componentDistribution.sample(sampleShape);
    const dim = sampleShape.length + batchShape.length;
    const index = chosen.reshape([...chosen.shape, 1, ...eventShape.map(() => 1)]);
    const wanted = [...sampleShape, ...batchShape, 1, ...eventShape];
    return values.gather(dim, index.expand(wanted)).squeeze(dim);
  },
  logProb(self: Mixture, value) {
    const each = self.componentDistribution.logProb(padded(self, value));
    return each.add(self.mixtureDistribution.logits.logSoftmax(-1)).logsumexp(-1);
  },
}) {
  /** The weights of the components. */
  readonly mixtureDistribution: Categorical;
  /** The components, along the last batch dimension. */
  readonly componentDistribution: Component;

  constructor(
    mixtureDistribution: Categorical,
    componentDistribution: Component,
    validateArgs?: boolean | null,
  );
  constructor(
    mixtureDistribution: Categorical,
    componentDistribution: Component,
    options?: DistributionOptions,
  );
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const call = readArguments(name, kArguments, given);
    const { mixtureDistribution, componentDistribution, validateArgs } = call;
    const batchShape = componentDistribution.batchShape.slice(0, -1);
    broadcastShapes(name, mixtureDistribution.batchShape, batchShape);
    const weights = mixtureDistribution.logits.shape.at(-1);
    const components = componentDistribution.batchShape.at(-1);
    if (weights !== components) {
      const message = `mixtureDistribution has ${weights} components, but componentDistribution.batchShape is [${componentDistribution.batchShape}].`;
      fail("ShapeMismatch", name, message);
    }
    const { eventShape } = componentDistribution;
    super({ parameters: {}, batchShape, eventShape, validateArgs });
    this.mixtureDistribution = mixtureDistribution;
    this.componentDistribution = componentDistribution as Component;
  }

  override cdf(value: Tensor): Tensor {
    this.checkTensor("cdf", value);
    const each = this.componentDistribution.cdf(padded(this, value));
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
}

/** Returns `value` with a dimension of size 1 for the components. */
function padded({ eventShape }: Distribution, value: Tensor): Tensor {
  return value.unsqueeze(-1 - eventShape.length);
}

function averaged({ eventShape, mixtureDistribution: { probs } }: Mixture, values: Tensor): Tensor {
  const weights = probs.reshape([...probs.shape, ...eventShape.map(() => 1)]);
  return values.mul(weights).sum(-1 - eventShape.length);
}
