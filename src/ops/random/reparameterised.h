#pragma once

// How a random number moves with the parameters of its distribution when its place in the
// distribution is held: -(d cdf / d parameter) / pdf. Series and fitted functions, as PyTorch has
// them; good to about four digits.

namespace eg {

/// d x / d alpha of a gamma number x of shape alpha; `digamma` is that of alpha.
double gamma_slope(double alpha, double x, double digamma);

/// The digamma function of the parameters of a beta distribution.
struct BetaDigammas {
  double alpha;
  double beta;
  double total;
};

/// d x / d alpha over 1 - x, of a beta number x of parameters alpha and total - alpha.
double beta_slope(double x, double alpha, double total, const BetaDigammas& digamma);

}  // namespace eg
