import type { Parameter } from "../base/arguments.js";
import { distribution, type Given } from "../base/declaration.js";
import { holdsEverywhere } from "../base/numbers.js";
import { uniformUnit } from "../base/random.js";
import { dependent, interval } from "../constraints/constraints.js";

/** Uniform distribution of numbers from `low`, inclusive, to `high`, exclusive. */
export class Uniform extends distribution({
  given: {} as Given<[low: Parameter, high: Parameter]>,
  parameters: {
    /** The smallest value. */
    low: dependent,
    /** The upper bound, exclusive. */
    high: dependent,
  },
  refuse({ low, high }) {
    if (holdsEverywhere(() => low.lt(high))) return;
    return `expected low < high, got low\n${low.detach()}\nand high\n${high.detach()}`;
  },
  support: ({ low, high }) => interval(low, high),
  mean: ({ low, high }) => high.add(low).div(2),
  mode: ({ high }) => high.mul(Number.NaN),
  variance: ({ low, high }) => high.sub(low).square().div(12),
  stddev: ({ low, high }) => high.sub(low).div(Math.sqrt(12)),
  rsample: ({ low, high }, shape) => low.add(uniformUnit(shape, low).mul(high.sub(low))),
  logProb({ low, high }, value) {
    const isInside = low.le(value).logicalAnd(high.gt(value));
    return isInside.to(low.dtype).log().sub(high.sub(low).log());
  },
  cdf: ({ low, high }, value) => value.sub(low).div(high.sub(low)).clamp(0, 1),
  icdf: ({ low, high }, value) => value.mul(high.sub(low)).add(low),
  entropy: ({ low, high }) => high.sub(low).log(),
}) {}
