// Histograms: how often values fall into each of a number of equal ranges.

import { refuse } from "../../errors/errors.js";
import { afterwards, type Later, numbersOf, type Values } from "./values.js";

/** How often the values of a tensor fall into each of some ranges of equal width. */
export interface Histogram {
  /** The smallest finite value; 0 if there is none. */
  readonly min: number;
  /** The largest finite value; 0 if there is none. */
  readonly max: number;
  /** The number of finite values. */
  readonly count: number;
  /** The number of values that are NaN or infinite; they are in no range. */
  readonly nonFinite: number;
  /** The sum of the finite values. */
  readonly sum: number;
  /** The sum of their squares. */
  readonly sumOfSquares: number;
  /** The upper end of each range, in rising order. The first range begins at `min`. */
  readonly limits: Float64Array;
  /** The number of values in each range. */
  readonly counts: Float64Array;
}

/** The most ranges of a histogram. */
const kMostBins = 4096;

/** The ranges of a histogram unless a number is given. */
export const kBins = 30;

/**
 * Returns the histogram of values, as they are at the time of the call. For a tensor on another device than the CPU it is a promise.
 */
export function histogramOf(where: string, values: Values, bins: number = kBins): Later<Histogram> {
  if (!Number.isInteger(bins) || bins < 1 || bins > kMostBins)
    refuse(where, "bins", `an integer from 1 to ${kMostBins}`, bins);
  return afterwards(numbersOf(where, "values", values), (numbers) => counted(numbers, bins));
}

function counted(values: ArrayLike<number>, bins: number): Histogram {
  let [min, max, count, sum, sumOfSquares] = [Infinity, -Infinity, 0, 0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    count++;
    if (value < min) min = value;
    if (value > max) max = value;
    sum += value;
    sumOfSquares += value * value;
  }
  if (count === 0) [min, max] = [0, 0];
  // Values that are all the same are in one range.
  const ranges = min === max ? 1 : bins;
  // The difference of two numbers can be too large for a number.
  const at = (share: number) => min * (1 - share) + max * share;
  const limits = Float64Array.from({ length: ranges }, (_, i) => at((i + 1) / ranges));
  limits[ranges - 1] = max;
  const counts = new Float64Array(ranges);
  const scale = ranges / (max / 2 - min / 2 || 1);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    const bin = Math.min(ranges - 1, Math.floor((value / 2 - min / 2) * scale));
    counts[bin] = (counts[bin] as number) + 1;
  }
  const nonFinite = values.length - count;
  return { min, max, count, nonFinite, sum, sumOfSquares, limits, counts };
}
