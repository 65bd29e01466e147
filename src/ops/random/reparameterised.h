#pragma once

// The derivative of a sample by a parameter of its distribution, at a fixed value of the cumulative
// distribution function: -(d cdf / d parameter) / pdf. It is computed by the series and fitted
// functions that PyTorch uses, which are accurate to about four digits.

namespace eg {

/// d x / d alpha of a gamma sample x with shape alpha; `digamma` is digamma(alpha).
double gamma_slope(double alpha, double x, double digamma);

/// The digamma function of the parameters of a beta distribution.
struct BetaDigammas {
  double alpha;
  double beta;
  double total;
};

/// (d x / d alpha) / (1 - x) of a beta sample x with parameters alpha and total - alpha.
double beta_slope(double x, double alpha, double total, const BetaDigammas& digamma);

}  // namespace eg
