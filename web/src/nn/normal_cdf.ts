// The distribution function of the standard normal distribution.

/** Returns the probability of a standard normal number below x: by the series of erf, or by its continued fraction far from 0. */
export function normalCdf(x: number): number {
  const z = Math.abs(x) / Math.SQRT2;
  const upper = z < 3 ? (1 - erfSeries(z)) / 2 : erfcFraction(z) / 2;
  return x < 0 ? upper : 1 - upper;
}

function erfSeries(z: number): number {
  let term = z;
  let sum = z;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * z * z) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
}

function erfcFraction(z: number): number {
  let tail = z;
  for (let n = 60; n > 0; n--) tail = z + n / 2 / tail;
  return Math.exp(-z * z) / (Math.sqrt(Math.PI) * tail);
}
