// The Dirichlet distribution, and the beta distribution, which is that of its first coordinate.

import { stack, where, xlogy } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kDistributionOptions, type Parameter } from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { oneMinus } from "../base/numbers.js";
import { sampleDirichlet } from "../base/random.js";
import { independent, positive, simplex, unitInterval } from "../constraints/constraints.js";

/** Dirichlet distribution of the probabilities of classes, which are the last dimension of `concentration`. */
export class Dirichlet extends distribution({
  given: {} as Given<[concentration: Tensor]>,
  arguments: { concentration: tensorRule, ...kDistributionOptions },
  parameters: {
    /** The concentration of each class: the mean is proportional to it, and the spread falls as it grows. */
    concentration: () => independent(positive, 1),
  },
  parts(name, { concentration }: { concentration: Tensor }) {
    const { shape } = concentration;
    if (shape.length === 0) {
      fail("ShapeMismatch", name, "concentration: expected at least one dimension, got none.");
    }
    const shapes = { batchShape: shape.slice(0, -1), eventShape: shape.slice(-1) };
    return { parameters: { concentration }, ...shapes };
  },
  support: simplex,
  mean: ({ concentration }) => concentration.div(concentration.sum(-1, true)),
  mode({ concentration, eventShape }) {
    const excess = concentration.sub(1).clamp(0);
    const mode = excess.div(excess.sum(-1, true));
    const corner = mode.argmax(-1).oneHot(eventShape[0]).to(mode.dtype);
    return where(concentration.lt(1).all(-1, true), corner, mode);
  },
  variance({ concentration }) {
    const total = concentration.sum(-1, true);
    return concentration.mul(total.sub(concentration)).div(total.square().mul(total.add(1)));
  },
  rsample: ({ concentration }, shape) => sampleDirichlet(concentration.expand(shape)),
  logProb({ concentration }, value) {
    const logPowers = xlogy(concentration.sub(1), value).sum(-1);
    return logPowers.add(concentration.sum(-1).lgamma()).sub(concentration.lgamma().sum(-1));
  },
  entropy({ concentration, eventShape }) {
    const total = concentration.sum(-1);
    const spread = total.digamma().mul(total.neg().add(eventShape[0] as number));
    const logBeta = concentration.lgamma().sum(-1).sub(total.lgamma());
    return logBeta.sub(spread).sub(concentration.sub(1).mul(concentration.digamma()).sum(-1));
  },
}) {}

/** Beta distribution of numbers from 0 to 1, with the mean `concentration1 / (concentration1 + concentration0)`. */
export class Beta extends distribution({
  given: {} as Given<[concentration1: Parameter, concentration0: Parameter]>,
  parameters: {
    /** The shape parameter that pulls towards 1, often called alpha. */
    concentration1: positive,
    /** The shape parameter that pulls towards 0, often called beta. */
    concentration0: positive,
  },
  support: unitInterval,
  mean: ({ concentration1: a, concentration0: b }) => a.div(a.add(b)),
  mode: (self) => dirichletOf(self).mode.select(-1, 0),
  variance({ concentration1: a, concentration0: b }) {
    const total = a.add(b);
    return a.mul(b).div(total.square().mul(total.add(1)));
  },
  rsample: (self, _shape, sampleShape) => dirichletOf(self).rsample(sampleShape).select(-1, 0),
  logProb: (self, value) => dirichletOf(self).logProb(stack([value, oneMinus(value)], -1)),
  entropy: (self) => dirichletOf(self).entropy(),
}) {}

// The distribution of [x, 1 - x].
function dirichletOf(self: Record<"concentration1" | "concentration0", Tensor>): Dirichlet {
  const concentration = stack([self.concentration1, self.concentration0], -1);
  return new Dirichlet(concentration, { validateArgs: false });
}
