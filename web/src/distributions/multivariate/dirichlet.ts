// Dirichlet distributions, and those of their first coordinate.

import { readArguments } from "../../arguments/read.js";
import { stack, where } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  type Validation,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { oneMinus } from "../base/numbers.js";
import { sampleDirichlet } from "../base/random.js";
import {
  type Constraint,
  independent,
  positive,
  simplex,
  unitInterval,
} from "../constraints/constraints.js";

const kArguments = { concentration: tensorRule, ...kDistributionOptions };
const kBetaArguments = {
  concentration1: parameter,
  concentration0: parameter,
  ...kDistributionOptions,
};

/** Dirichlet distributions: of probabilities of classes, the last dimension of `concentration`. */
export class Dirichlet extends Distribution<Record<"concentration", Tensor>> {
  constructor(...given: [concentration: Tensor, ...rest: Validation]) {
    const name = new.target.name;
    const { concentration, validateArgs } = readArguments(name, kArguments, given);
    const { shape } = concentration;
    if (shape.length === 0) {
      fail("ShapeMismatch", name, "`concentration` parameter must be at least one-dimensional.");
    }
    const shapes = { batchShape: shape.slice(0, -1), eventShape: shape.slice(-1) };
    super({ parameters: { concentration }, ...shapes, validateArgs });
  }

  /** How strongly each class is held to its share. */
  get concentration(): Tensor {
    return this.parameters.concentration;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration: independent(positive, 1) };
  }

  override get support(): Constraint {
    return simplex;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.concentration.div(this.concentration.sum(-1, true));
  }

  override get mode(): Tensor {
    const { concentration } = this;
    const excess = concentration.sub(1).clamp(0);
    const mode = excess.div(excess.sum(-1, true));
    const corner = mode
      .argmax(-1)
      .oneHot(concentration.shape.at(-1) as number)
      .to(mode.dtype);
    return where(concentration.lt(1).all(-1, true), corner, mode);
  }

  override get variance(): Tensor {
    const { concentration } = this;
    const total = concentration.sum(-1, true);
    return concentration.mul(total.sub(concentration)).div(total.square().mul(total.add(1)));
  }

  override rsample(shape: SampleShape = []): Tensor {
    return sampleDirichlet(this.concentration.expand(this.extendedShape("rsample", shape)));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { concentration } = this;
    const logPowers = value.log().mul(concentration.sub(1)).sum(-1);
    return logPowers.add(concentration.sum(-1).lgamma()).sub(concentration.lgamma().sum(-1));
  }

  override entropy(): Tensor {
    const { concentration } = this;
    const count = concentration.shape.at(-1) as number;
    const total = concentration.sum(-1);
    const spread = total.digamma().mul(total.neg().add(count));
    return concentration
      .lgamma()
      .sum(-1)
      .sub(total.lgamma())
      .sub(spread)
      .sub(concentration.sub(1).mul(concentration.digamma()).sum(-1));
  }
}

/** Beta distributions: of probabilities, pulled up by `concentration1` and down by `concentration0`. */
export class Beta extends Distribution<Record<"concentration1" | "concentration0", Tensor>> {
  constructor(
    ...given: [concentration1: Parameter, concentration0: Parameter, ...rest: Validation]
  ) {
    const name = new.target.name;
    const call = readArguments(name, kBetaArguments, given);
    const [concentration1, concentration0] = broadcastAll(
      name,
      call.concentration1,
      call.concentration0,
    );
    const parameters = { concentration1, concentration0 };
    const { validateArgs } = call;
    super({ parameters, batchShape: concentration1.shape, validateArgs });
  }

  /** The pull to 1, often called alpha. */
  get concentration1(): Tensor {
    return this.parameters.concentration1;
  }

  /** The pull to 0, often called beta. */
  get concentration0(): Tensor {
    return this.parameters.concentration0;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration1: positive, concentration0: positive };
  }

  override get support(): Constraint {
    return unitInterval;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.concentration1.div(this.concentration1.add(this.concentration0));
  }

  override get mode(): Tensor {
    return this.dirichlet.mode.select(-1, 0);
  }

  override get variance(): Tensor {
    const { concentration1, concentration0 } = this;
    const total = concentration1.add(concentration0);
    return concentration1.mul(concentration0).div(total.square().mul(total.add(1)));
  }

  override rsample(shape: SampleShape = []): Tensor {
    return this.dirichlet.rsample(shape).select(-1, 0);
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    return this.dirichlet.logProb(stack([value, oneMinus(value)], -1));
  }

  override entropy(): Tensor {
    return this.dirichlet.entropy();
  }

  /** The distribution of a number and what it lacks to 1. */
  private get dirichlet(): Dirichlet {
    const concentration = stack([this.concentration1, this.concentration0], -1);
    return new Dirichlet(concentration, { validateArgs: false });
  }
}
