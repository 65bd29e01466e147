// Sample calls of the orthogonal polynomials, of other functions of eg.special, and of eg.signal.windows, in the form of composite_calls.mjs.

const kPolynomials = [
  "chebyshevPolynomialT",
  "chebyshevPolynomialU",
  "chebyshevPolynomialV",
  "chebyshevPolynomialW",
  "hermitePolynomialH",
  "hermitePolynomialHe",
  "laguerrePolynomialL",
  "legendrePolynomialP",
  "shiftedChebyshevPolynomialT",
  "shiftedChebyshevPolynomialU",
  "shiftedChebyshevPolynomialV",
  "shiftedChebyshevPolynomialW",
];

/** The sample calls by the name of the function. */
export const kPolynomialSamples = Object.fromEntries(
  kPolynomials.map((name) => [`special.${name}`, ["T([2, 3]), 4", "T([3]), 1"]]),
);

const kReal = ["T([2, 3], 0.1, 1.9)", "T([3], 2.2, 4.8)", "T([4], 5.5, 20)"];
const kPositive =
  "besselY0 besselY1 modifiedBesselK0 modifiedBesselK1 scaledModifiedBesselK0 scaledModifiedBesselK1";
const kSigned = ["airyAi", "besselJ0", "besselJ1", "sphericalBesselJ0"];

/** The sample calls of the functions of Bessel and Airy, within their pieces. */
export const kBesselSamples = Object.fromEntries([
  ...kPositive.split(" ").map((name) => [`special.${name}`, kReal]),
  ...kSigned.map((name) => [
    `special.${name}`,
    [...kReal, "T([3], -1.9, -0.6)", "T([3], -9, -5.5)"],
  ]),
]);

/** The sample calls of windows. */
export const kWindowSamples = {
  ...Object.fromEntries(
    ["bartlett", "blackman", "cosine", "gaussian", "hamming", "hann", "kaiser", "nuttall"].map(
      (name) => [`signal.windows.${name}`, ["5", "4, {sym: false}"]],
    ),
  ),
  "signal.windows.exponential": ["5", "4, {center: 1, tau: 2, sym: false}"],
  "signal.windows.generalCosine": ["5, {a: [0.5, 0.3, 0.2]}"],
  "signal.windows.generalHamming": ["5, {alpha: 0.6}"],
};
