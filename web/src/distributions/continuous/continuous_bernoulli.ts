import { type MixedArguments, readArguments } from "../../arguments/read.js";
import { type Options, Rule } from "../../arguments/rule.js";
import { onesLike, where, zerosLike } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Parameter } from "../base/arguments.js";
import { withFormulas } from "../base/declaration.js";
import { ExponentialFamily } from "../base/exponential_family.js";
import { clampProbs, crossEntropyOfBits, logOdds, oneMinus } from "../base/numbers.js";
import {
  type GivenProbabilities,
  givenOf,
  kProbabilityOptions,
  readProbabilities,
} from "../base/probabilities.js";
import { uniformUnit } from "../base/random.js";
import type { Constraint } from "../constraints/constraint.js";
import { real, unitInterval } from "../constraints/constraints.js";

/** A lower probability, at most 0.5, and an upper one, at least 0.5. */
export type Limits = readonly [from: number, to: number];

const limits = /* @__PURE__ */ new Rule<Limits>("a list of two numbers around 0.5", (value) => {
  return Array.isArray(value) && value.length === 2 && value[0] <= 0.5 && value[1] >= 0.5;
});

const kOptions = {
  /** The parameters that `Bernoulli` would use as probabilities of 1; this or `logits`. */
  probs: kProbabilityOptions.probs,
  /** The log odds of `probs`; this or `probs`. */
  logits: kProbabilityOptions.logits,
  /** Between these values of `probs`, results are computed from Taylor series; default [0.499, 0.501]. */
  lims: limits.or([0.499, 0.501]),
  /** Check parameters and values; default as set by `Distribution.setDefaultValidateArgs`. */
  validateArgs: kProbabilityOptions.validateArgs,
};

/** Options of `ContinuousBernoulli`. */
export interface ContinuousBernoulliOptions extends Options<typeof kOptions> {}

interface Continuous extends ExponentialFamily<GivenProbabilities> {
  readonly probs: Tensor;
  readonly logits: Tensor;
  readonly lims: Limits;
  logFactor(): Tensor;
}

/** Continuous Bernoulli distribution of numbers from 0 to 1: the density is the probability of `Bernoulli`, normalized. */
export class ContinuousBernoulli extends withFormulas({
  base: ExponentialFamily,
  support: unitInterval,
  mean(self: Continuous) {
    const { isOutside, cut, logOddsOfCut } = partsOf(self);
    const mean = cut.div(cut.mul(2).sub(1)).sub(logOddsOfCut.reciprocal());
    const x = self.probs.sub(0.5);
    const slope = x
      .square()
      .mul(16 / 45)
      .add(1 / 3);
    return where(isOutside, mean, slope.mul(x).add(0.5));
  },
  variance(self: Continuous) {
    const { isOutside, cut, logOddsOfCut } = partsOf(self);
    const first = cut.mul(cut.sub(1)).div(oneMinus(cut.mul(2)).square());
    const variance = first.add(logOddsOfCut.square().reciprocal());
    const x = self.probs.sub(0.5).square();
    const series = oneMinus(x.mul(128 / 63))
      .mul(x)
      .div(-15)
      .add(1 / 12);
    return where(isOutside, variance, series);
  },
  rsample: (self: Continuous, shape) => self.icdf(uniformUnit(shape, self.probs)),
  logProb(self: Continuous, value) {
    const { logits } = self;
    const { shape } = value.add(logits);
    const likelihood = crossEntropyOfBits(logits.expand(shape), value.expand(shape));
    return self.logFactor().sub(likelihood);
  },
  cdf(self: Continuous, value) {
    const { isOutside, cut } = partsOf(self);
    const powers = cut.pow(value).mul(oneMinus(cut).pow(oneMinus(value)));
    const cdf = powers.add(cut).sub(1).div(cut.mul(2).sub(1));
    const inside = where(isOutside, cdf, value);
    const isEnd = value.ge(1);
    return where(value.le(0), zerosLike(inside), where(isEnd, onesLike(inside), inside));
  },
  icdf(self: Continuous, value) {
    const { isOutside, cut, logOddsOfCut } = partsOf(self);
    const logShare = value.mul(cut.mul(2).sub(1)).sub(cut).log1p();
    return where(isOutside, logShare.sub(cut.neg().log1p()).div(logOddsOfCut), value);
  },
  entropy(self: Continuous) {
    const { probs } = self;
    const log0 = probs.neg().log1p();
    return self.mean.mul(log0.sub(probs.log())).sub(self.logFactor()).sub(log0);
  },
})<GivenProbabilities> {
  /** Between these values of `probs`, results are computed from Taylor series. */
  readonly lims: Limits;

  constructor(
    probs?: Parameter | null,
    logits?: Parameter | null,
    lims?: Limits,
    validateArgs?: boolean | null,
  );
  constructor(
    ...rest: MixedArguments<
      [
        probs: Parameter | null,
        logits: Parameter | null,
        lims: Limits,
        validateArgs: boolean | null,
      ],
      ContinuousBernoulliOptions
    >
  );
  constructor(options?: ContinuousBernoulliOptions);
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const { lims, ...call } = readArguments(name, kOptions, given);
    const parameters = readProbabilities(name, call);
    const batchShape = givenOf(parameters).shape;
    super({ parameters, batchShape, validateArgs: call.validateArgs });
    this.lims = lims;
  }

  /** The parameter that `Bernoulli` would use as probability of 1, clamped away from 0 and 1. */
  get probs(): Tensor {
    const { probs, logits } = this.parameters;
    return clampProbs(probs ?? (logits as Tensor).sigmoid());
  }

  /** The log odds of `probs`. */
  get logits(): Tensor {
    return this.parameters.logits ?? logOdds(this.parameters.probs as Tensor);
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { probs: unitInterval, logits: real };
  }

  override get naturalParams(): readonly Tensor[] {
    return [this.logits];
  }

  override get meanCarrierMeasure(): number {
    return 0;
  }

  override logNormalizer(x: Tensor): Tensor {
    const [from, to] = this.lims.map((limit) => limit - 0.5) as [number, number];
    const isOutside = x.le(from).logicalOr(x.gt(to));
    const cut = where(isOutside, x, from);
    const normalizer = cut.expm1().abs().log().sub(cut.abs().log());
    const series = x.mul(0.5).add(x.square().div(24)).sub(x.square().square().div(2880));
    return where(isOutside, normalizer, series);
  }

  /** Returns the log of the normalizing factor of the density. @internal */
  logFactor(): Tensor {
    const { isOutside, cut, logOddsOfCut } = partsOf(this);
    const isLow = cut.le(0.5);
    const below = where(isLow, cut, 0).mul(-2).log1p();
    const above = where(cut.ge(0.5), cut, 1).mul(2).sub(1).log();
    const factor = logOddsOfCut
      .abs()
      .log()
      .sub(where(isLow, below, above));
    const x = this.probs.sub(0.5).square();
    const series = x
      .mul(104 / 45)
      .add(4 / 3)
      .mul(x)
      .add(Math.log(2));
    return where(isOutside, factor, series);
  }
}

// Near a probability of 1/2 the formulas are 0 / 0, so `cut` replaces such probabilities.
function partsOf({ probs, lims }: Pick<Continuous, "probs" | "lims">) {
  const isOutside = probs.le(lims[0]).logicalOr(probs.gt(lims[1]));
  const cut = where(isOutside, probs, lims[0]);
  return { isOutside, cut, logOddsOfCut: cut.log().sub(cut.neg().log1p()) };
}
