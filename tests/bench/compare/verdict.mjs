// Statistics of pairs of figures: the ratio of B's time to A's, its confidence limits, and whether the difference is more than
// noise.

import { median } from "../clock.mjs";

const kConfidence = 0.95;

/** With fewer pairs, even the smallest and the largest ratio have less confidence than kConfidence. */
export const kFewestPairs = 6;

/** Returns the ratio of B's time to A's for each pair. */
export function ratiosOf(pairs, better) {
  return pairs.map(([a, b]) => (better === "higher" ? a / b : b / a));
}

/**
 * Returns { ratio, low, high, outcome }: the median ratio, and limits that contain the true one in 95 of 100 cases, whatever the
 * distribution of the noise (order statistics, as in a sign test). `outcome` is "slower" or "faster" if the median is beyond the
 * tolerance and the limits are on the same side of 1; "unclear" if only the median is; else "same".
 */
export function verdictOf(ratios, tolerance) {
  const ratio = median(ratios);
  const [low, high] = limitsOf(ratios);
  const isBeyond = ratio > 1 + tolerance || ratio < 1 / (1 + tolerance);
  if (!isBeyond) return { ratio, low, high, outcome: "same" };
  const isSure = ratio > 1 ? low > 1 : high < 1;
  const outcome = isSure ? (ratio > 1 ? "slower" : "faster") : "unclear";
  return { ratio, low, high, outcome };
}

/** Returns the limits of the median: the innermost two of the sorted values that contain it with kConfidence. */
export function limitsOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const count = sorted.length;
  let left = 0; // how many values may be cut off at each end
  let tail = 0; // the chance that the median is among them, per end
  let chance = 0.5 ** count; // of exactly so many values below the median
  for (let below = 0; below < count / 2; ++below) {
    tail += chance;
    if (1 - 2 * tail < kConfidence) break;
    left = below;
    chance = (chance * (count - below)) / (below + 1);
  }
  return [sorted[left], sorted[count - 1 - left]];
}

/** Whether a row needs more pairs before it counts as slower. */
export function isSuspect({ outcome }) {
  return outcome === "slower" || outcome === "unclear";
}

/**
 * Returns the verdict on a row that was measured again. The reason was that its first pairs looked slow, which may have been
 * noise; so B counts as slower only if the new pairs alone are beyond the tolerance, too.
 */
export function confirmedVerdict(first, again, tolerance) {
  const verdict = verdictOf([...first, ...again], tolerance);
  const isConfirmed = median(again) > 1 + tolerance;
  return verdict.outcome === "slower" && !isConfirmed
    ? { ...verdict, outcome: "unclear" }
    : verdict;
}
