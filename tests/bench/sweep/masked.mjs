// Calls of the sweep in namespaces: eg.masked, the polynomials and functions of Bessel of eg.special, and eg.signal.windows.

import { B, N, U } from "./operands.mjs";

const matrix = (z) => N(z.rows, z.columns);
const mask = (z) => B(z.rows, z.columns);

// PyTorch takes masks only by name, which the calls of the sweep cannot.
const alone = (args) => ({ args, theirs: null });

const kReductions = "sum prod amax amin argmax argmin logsumexp mean median".split(" ");
const kScans = "cumsum cumprod softmax logSoftmax softmin".split(" ");

export const kMasked = {
  ...Object.fromEntries(
    kReductions.map((name) => [
      `masked.${name}`,
      alone((z) => [matrix(z), 1, false, null, mask(z)]),
    ]),
  ),
  ...Object.fromEntries(
    kScans.map((name) => [`masked.${name}`, alone((z) => [matrix(z), 1, null, mask(z)])]),
  ),
  "masked.var": alone((z) => [matrix(z), 1, 1, false, null, mask(z)]),
  "masked.std": alone((z) => [matrix(z), 1, 1, false, null, mask(z)]),
  "masked.norm": alone((z) => [matrix(z), 2, 1, false, null, mask(z)]),
  "masked.normalize": alone((z) => [matrix(z), 2, 1, 1e-12, null, mask(z)]),
  "masked.logaddexp": alone((z) => [matrix(z), matrix(z), null, mask(z), mask(z)]),
};

const kPolynomialNames = [
  ..."TUVW"
    .split("")
    .flatMap((kind) => [`chebyshevPolynomial${kind}`, `shiftedChebyshevPolynomial${kind}`]),
  "hermitePolynomialH",
  "hermitePolynomialHe",
  "laguerrePolynomialL",
  "legendrePolynomialP",
];

export const kPolynomials = Object.fromEntries(
  kPolynomialNames.map((name) => [
    `special.${name}`,
    { args: (z) => [U(-1, 1, z.rows, z.columns), 5], isForwardOnly: true },
  ]),
);

const kPositive =
  "besselY0 besselY1 modifiedBesselK0 modifiedBesselK1 scaledModifiedBesselK0 scaledModifiedBesselK1";
const kSigned = "airyAi besselJ0 besselJ1 sphericalBesselJ0";
const between = (low, high) => ({
  args: (z) => [U(low, high, z.rows, z.columns)],
  isForwardOnly: true,
});

export const kBessel = Object.fromEntries([
  ...kPositive.split(" ").map((name) => [`special.${name}`, between(0.1, 20)]),
  ...kSigned.split(" ").map((name) => [`special.${name}`, between(-10, 10)]),
]);

const kWindowNames =
  "bartlett blackman cosine exponential gaussian generalHamming hamming hann kaiser nuttall";

export const kWindows = {
  ...Object.fromEntries(
    kWindowNames.split(" ").map((name) => [`signal.windows.${name}`, alone((z) => [z.count])]),
  ),
  "signal.windows.generalCosine": alone((z) => [z.count, [0.5, 0.3, 0.2]]),
};
