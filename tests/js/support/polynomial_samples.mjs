// Sample calls of the orthogonal polynomials and of eg.signal.windows, in the form of composite_calls.mjs.

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
