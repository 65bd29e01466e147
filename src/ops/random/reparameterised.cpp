#include "ops/random/reparameterised.h"

#include <array>
#include <cmath>

namespace eg {
namespace {

double number_or_zero(double x) { return std::isnan(x) ? 0 : x; }

// Taylor expansion of the cdf for small x.
double small_gamma_slope(double alpha, double x, double digamma) {
  double numerator = 1;
  double denominator = alpha;
  double series = numerator / denominator;
  double slope_series = numerator / (denominator * denominator);
  for (int i = 1; i <= 5; ++i) {
    numerator *= -x / i;
    denominator += 1;
    series += numerator / denominator;
    slope_series += numerator / (denominator * denominator);
  }
  const double power = std::pow(x, alpha);
  const double pdf = std::pow(x, alpha - 1) * std::exp(-x);
  const double cdf_slope = (std::log(x) - digamma) * (power * series) - power * slope_series;
  return number_or_zero(-cdf_slope / pdf);
}

// Rice's saddle point expansion for large alpha.
double large_gamma_slope(double alpha, double x) {
  if (0.9 * alpha <= x && x <= 1.1 * alpha) {
    const double first = 1 + 24 * alpha * (1 + 12 * alpha);
    const double second = 1440 * alpha * alpha + 6 * x * (53 - 120 * x) - 65 * x * x / alpha +
                          alpha * (107 + 3600 * x);
    return first * second / (1244160 * (alpha * alpha) * (alpha * alpha));
  }
  const double denominator = std::sqrt(8 * alpha);
  const double second = denominator / (alpha - x);
  const double third = std::pow(x - alpha - alpha * std::log(x / alpha), -1.5);
  const double both = x < alpha ? second - third : second + third;
  const double first =
      std::log(x / alpha) * both - std::sqrt(2 / alpha) * (alpha + x) / ((alpha - x) * (alpha - x));
  const double stirling = 1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha));
  return -stirling * x * first / denominator;
}

// For the range in between: a rational function of log(x / alpha) and log(alpha), fitted to the
// slope.
double fitted_gamma_slope(double alpha, double x) {
  constexpr double kFit[3][8] = {
      {0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089,
       0.0014179084},
      {0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915,
       -0.00058392623},
      {0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326,
       0.00085092367, -1.5247877e-07},
  };
  const double u = std::log(x / alpha);
  const double v = std::log(alpha);
  std::array<double, 8> c;
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = kFit[0][i] + u * (kFit[1][i] + u * kFit[2][i]);
  const double p = c[0] + v * (c[1] + v * (c[2] + v * c[3]));
  const double q = c[4] + v * (c[5] + v * (c[6] + v * c[7]));
  return std::exp(p / q);
}

// The derivative by alpha, for x close to 0.
double small_beta_slope_by_alpha(double x, double alpha, double beta, const BetaDigammas& digamma) {
  const double factor = digamma.alpha - digamma.total - std::log(x);
  double numerator = 1;
  double series = numerator / alpha * (factor + 1 / alpha);
  for (int i = 1; i <= 10; ++i) {
    numerator *= (i - beta) * x / i;
    const double denominator = alpha + i;
    series += numerator / denominator * (factor + 1 / denominator);
  }
  return number_or_zero(x * std::pow(1 - x, -beta) * series);
}

// The derivative by beta, for x close to 0.
double small_beta_slope_by_beta(double x, double alpha, double beta, const BetaDigammas& digamma) {
  const double factor = digamma.total - digamma.beta;
  double numerator = 1;
  double betas = 1;
  double slopes = 0;
  double series = factor / alpha;
  for (int i = 1; i <= 8; ++i) {
    numerator *= -x / i;
    slopes = slopes * (beta - i) + betas;
    betas *= beta - i;
    series += numerator / (alpha + i) * (slopes + factor * betas);
  }
  return number_or_zero(-std::pow(1 - x, 1 - beta) * series);
}

// Near x = mean, where the expansion below has a removable singularity.
double beta_slope_near_mean(double x, double alpha, double beta) {
  const double total = alpha + beta;
  const double square = beta * beta;
  const double polynomial =
      47 * x * square * square +
      alpha * ((43 + 20 * (16 + 27 * beta) * x) * square * beta +
               alpha * (3 * (59 + 180 * beta - 90 * x) * square +
                        alpha * ((453 + 1620 * beta * (1 - x) - 455 * x) * beta +
                                 alpha * (8 * (1 - x) * (135 * beta - 11)))));
  const double numerator = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total);
  const double denominator = 12960 * alpha * alpha * alpha * square * (1 + 12 * total);
  return numerator / (1 - x) * polynomial / denominator;
}

double stirling_series(double x) { return 1 + 1 / (12 * x) + 1 / (288 * x * x); }

// Rice's saddle point expansion for large alpha and beta.
double large_beta_slope(double x, double alpha, double beta) {
  const double total = alpha + beta;
  const double mean = alpha / total;
  const double deviation = std::sqrt(alpha * beta / (total + 1)) / total;
  if (mean - 0.1 * deviation <= x && x <= mean + 0.1 * deviation)
    return beta_slope_near_mean(x, alpha, beta);
  const double factor = -x / std::sqrt(2 * alpha * beta / total);
  const double stirling = stirling_series(alpha) * stirling_series(beta) / stirling_series(total);
  const double offset = alpha * (x - 1) + beta * x;
  const double first = (2 * alpha * alpha * (x - 1) + alpha * beta * (x - 1) - x * beta * beta) /
                       (std::sqrt(2 * alpha / beta) * std::pow(total, 1.5) * offset * offset);
  const double second = 0.5 * std::log(alpha / (total * x));
  const double third = std::sqrt(8 * alpha * beta / total) / offset;
  const double fourth = std::pow(
      beta * std::log(beta / (total * (1 - x))) + alpha * std::log(alpha / (total * x)), -1.5);
  return stirling * factor * (first + second * (third + (x < mean ? fourth : -fourth)));
}

// An analytic approximation times a fitted rational function of three logarithms.
double fitted_beta_slope(double x, double alpha, double total, const BetaDigammas& digamma) {
  constexpr double kFit[2][3][3][4] = {
      {{{1.003668233, -0.01061107488, -0.0657888334, 0.01201642863},
        {0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033},
        {-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013}},
       {{0.221950385, -0.3187676331, 0.01799915743, 0.01074823814},
        {-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057},
        {0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05}},
       {{-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565},
        {0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181},
        {0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05}}},
      {{{1, -0.02924021934, -0.04438342661, 0.007285809825},
        {0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521},
        {-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149}},
       {{0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273},
        {0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956},
        {-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05}},
       {{0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05},
        {0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05},
        {-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06}}},
  };
  const double u = std::log(x);
  const double a = std::log(alpha) - u;
  const double b = std::log(total) - a;
  const double powers_of_u[3] = {1, u, u * u};
  const double powers_of_a[3] = {1, a, a * a};
  double sums[2] = {0, 0};
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const double(&c)[4] = kFit[part][i][j];
        sums[part] += powers_of_u[i] * powers_of_a[j] * (c[0] + b * (c[1] + b * (c[2] + b * c[3])));
      }
    }
  }
  const double approximation = x * (digamma.total - digamma.alpha) / (total - alpha);
  return sums[0] / sums[1] * approximation;
}

}  // namespace

double gamma_slope(double alpha, double x, double digamma) {
  if (x < 0.8) return small_gamma_slope(alpha, x, digamma);
  return alpha > 8 ? large_gamma_slope(alpha, x) : fitted_gamma_slope(alpha, x);
}

double beta_slope(double x, double alpha, double total, const BetaDigammas& digamma) {
  const double beta = total - alpha;
  const double boundary = total * x * (1 - x);
  if (x <= 0.5 && boundary < 2.5) return small_beta_slope_by_alpha(x, alpha, beta, digamma);
  if (x >= 0.5 && boundary < 0.75) {
    const BetaDigammas swapped{digamma.beta, digamma.alpha, digamma.total};
    return -small_beta_slope_by_beta(1 - x, beta, alpha, swapped);
  }
  if (alpha > 6 && beta > 6) return large_beta_slope(x, alpha, beta);
  return fitted_beta_slope(x, alpha, total, digamma);
}

}  // namespace eg
