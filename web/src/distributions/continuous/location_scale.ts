// Distributions of real numbers with a location and a scale.

import { fullLike, rand } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Parameter } from "../base/arguments.js";
import {
  type Declared,
  type DeclaredClass,
  distribution,
  type Given,
} from "../base/declaration.js";
import type { Formulas } from "../base/distribution.js";
import { kEulerGamma, limitsOf, vanishingAtInfinity } from "../base/numbers.js";
import { standardNormal, uniformBetween, uniformUnit } from "../base/random.js";
import { positive, real } from "../constraints/constraints.js";

const kParameters = {
  /** The location. */
  loc: real,
  /** The scale. */
  scale: positive,
};

type LocationScale = Declared<typeof kParameters>;

function locationScale(
  formulas: Formulas<LocationScale>,
): DeclaredClass<Given<[loc: Parameter, scale: Parameter]>, LocationScale> {
  return distribution({
    given: {} as Given<[loc: Parameter, scale: Parameter]>,
    parameters: kParameters,
    support: real,
    mode: ({ loc }) => loc,
    ...formulas,
  });
}

// The distance of a value from the location, in units of the scale.
const standardized = ({ loc, scale }: LocationScale, value: Tensor): Tensor =>
  value.sub(loc).div(scale);

/** Normal distribution of mean `loc` and standard deviation `scale`. */
export class Normal extends locationScale({
  mean: ({ loc }) => loc,
  variance: ({ scale }) => scale.square(),
  stddev: ({ scale }) => scale,
  rsample: ({ loc, scale }, shape) => standardNormal(shape, loc).mul(scale).add(loc),
  logProb({ loc, scale, variance }, value) {
    const squares = value.sub(loc).square().div(variance.mul(2));
    return squares
      .neg()
      .sub(scale.log())
      .sub(Math.log(Math.sqrt(2 * Math.PI)));
  },
  cdf({ loc, scale }, value) {
    const steps = value.sub(loc).mul(scale.reciprocal()).div(Math.SQRT2);
    return steps.erf().add(1).mul(0.5);
  },
  icdf({ loc, scale }, value) {
    const steps = value.mul(2).sub(1).erfinv();
    return scale.mul(steps).mul(Math.SQRT2).add(loc);
  },
  entropy: ({ scale }) => scale.log().add(0.5 + 0.5 * Math.log(2 * Math.PI)),
}) {}

/** Laplace distribution: the density falls exponentially on both sides of `loc`. */
export class Laplace extends locationScale({
  mean: ({ loc }) => loc,
  variance: ({ scale }) => scale.square().mul(2),
  stddev: ({ scale }) => scale.mul(Math.SQRT2),
  rsample({ loc, scale }, shape) {
    const { eps } = limitsOf(loc.dtype);
    const u = uniformBetween(shape, loc, eps - 1, 1);
    return loc.sub(scale.mul(u.sign()).mul(u.abs().neg().log1p()));
  },
  logProb: ({ loc, scale }, value) => scale.mul(2).log().neg().sub(value.sub(loc).abs().div(scale)),
  cdf({ loc, scale }, value) {
    const distance = value.sub(loc);
    const tail = distance.abs().neg().div(scale).expm1();
    return distance.sign().mul(tail).mul(-0.5).add(0.5);
  },
  icdf({ loc, scale }, value) {
    const term = value.sub(0.5);
    return loc.sub(scale.mul(term.sign()).mul(term.abs().mul(-2).log1p()));
  },
  entropy: ({ scale }) => scale.mul(2).log().add(1),
}) {}

/** Gumbel distribution: the limiting distribution of the maximum of many numbers. */
export class Gumbel extends locationScale({
  mean: ({ loc, scale }) => loc.add(scale.mul(kEulerGamma)),
  variance: ({ stddev }) => stddev.square(),
  stddev: ({ scale }) => scale.mul(Math.PI / Math.sqrt(6)),
  rsample({ loc, scale }, shape) {
    const { eps, tiny } = limitsOf(loc.dtype);
    const u = uniformUnit(shape, loc)
      .mul(1 - eps - tiny)
      .add(tiny);
    return loc.sub(scale.mul(u.log().neg().log()));
  },
  logProb(self, value) {
    const y = standardized(self, value).neg();
    return vanishingAtInfinity(y.sub(y.exp()).sub(self.scale.log()), y);
  },
  cdf: (self, value) => standardized(self, value).neg().exp().neg().exp(),
  icdf: ({ loc, scale }, value) => loc.sub(scale.mul(value.log().neg().log())),
  entropy: ({ scale }) => scale.log().add(1 + kEulerGamma),
}) {}

/** Cauchy distribution of the ratio of two normal variables; it has no mean. */
export class Cauchy extends locationScale({
  mean: ({ loc }) => fullLike(loc, Number.NaN),
  variance: ({ loc }) => fullLike(loc, Number.POSITIVE_INFINITY),
  rsample({ loc, scale }, shape) {
    // Drawn in float64 for every dtype, as in PyTorch.
    const unit = rand(shape, { dtype: "float64" });
    const eps = unit.sub(0.5).mul(Math.PI).tan().to(loc.dtype).to(loc.device);
    return loc.add(eps.mul(scale));
  },
  logProb(self, value) {
    const tails = standardized(self, value).square().add(1).log();
    return self.scale.log().neg().sub(Math.log(Math.PI)).sub(tails);
  },
  cdf: (self, value) => standardized(self, value).atan().div(Math.PI).add(0.5),
  icdf({ loc, scale }, value) {
    const steps = value.sub(0.5).mul(Math.PI).tan();
    const above = steps.maskedFill(value.eq(0), Number.NEGATIVE_INFINITY);
    return above.maskedFill(value.eq(1), Number.POSITIVE_INFINITY).mul(scale).add(loc);
  },
  entropy: ({ scale }) => scale.log().add(Math.log(4 * Math.PI)),
}) {}
