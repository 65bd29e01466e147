// Histograms with ranges of equal width.

import { refuse } from "../../errors/errors.js";
import { afterwards, type Later, numbersOf, type Values } from "./values.js";

/** A histogram: the number of values in each of several ranges of equal width. */
export interface Histogram {
  /** The smallest finite value; 0 if there is none. */
  readonly min: number;
  /** The largest finite value; 0 if there is none. */
  readonly max: number;
  /** The number of finite values. */
  readonly count: number;
  /** The number of values that are NaN or infinite, which are not in any range. */
  readonly nonFinite: number;
  /** The sum of the finite values. */
  readonly sum: number;
  /** The sum of their squares. */
  readonly sumOfSquares: number;
  /** The upper end of each range, in ascending order. The first range begins at `min`. */
  readonly limits: Float64Array;
  /** The number of values in each range. */
  readonly counts: Float64Array;
}

/** The limit on ranges of a histogram. */
const kMostBins = 4096;

/** The default number of ranges. */
export const kBins = 30;

/**
 * Returns the histogram of values at the time of the call; a promise for a tensor on another device than the CPU.
 */
export function histogramOf(where: string, values: Values, bins: number = kBins): Later<Histogram> {
  if (!Number.isInteger(bins) || bins < 1 || bins > kMostBins)
    refuse(where, "bins", `an integer from 1 to ${kMostBins}`, bins);
  return afterwards(numbersOf(where, "values", values), (numbers) => countValues(numbers, bins));
}

function countValues(values: ArrayLike<number>, bins: number): Histogram {
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
  // If all values are equal, there is one range.
  const ranges = min === max ? 1 : bins;
  // max - min could overflow.
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
