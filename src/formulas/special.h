#pragma once

// The error function and the normal distribution, the logarithm of the gamma function and its
// derivatives, the incomplete gamma functions, and Bessel functions.

#include <numbers>

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Erf {
  static constexpr Doc doc{"erf", "Error function of every element."};
  static constexpr auto forward(auto x) { return erf(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    return 2 * std::numbers::inv_sqrtpi * g * exp(-(x * x));
  }
};

struct Erfc {
  static constexpr Doc doc{"erfc", "1 - erf(x), accurate also where the result is tiny."};
  static constexpr auto forward(auto x) { return erfc(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    return -2 * std::numbers::inv_sqrtpi * g * exp(-(x * x));
  }
};

struct Erfcx {
  static constexpr Doc doc{"erfcx",
                           "exp(x^2) erfc(x), accurate also where erfc(x) underflows to 0."};
  static constexpr auto forward(auto x) { return erfcx(x); }
  static constexpr auto grad(auto g, auto x, auto y) {
    return 2 * g * (x * y - std::numbers::inv_sqrtpi);
  }
};

struct Ndtr {
  static constexpr Doc doc{"ndtr",
                           "Cumulative distribution function of the standard normal distribution."};
  static constexpr auto forward(auto x) { return 0.5 * erfc(x * -(std::numbers::sqrt2 / 2)); }
  static constexpr auto grad(auto g, auto x, auto) {
    return std::numbers::inv_sqrtpi * (std::numbers::sqrt2 / 2) * g * exp(x * x * -0.5);
  }
};

struct LogNdtr {
  static constexpr Doc doc{"log_ndtr", "Logarithm of ndtr, accurate also where ndtr is tiny."};
  static constexpr auto forward(auto x) {
    const auto t = x * (std::numbers::sqrt2 / 2);
    return where(x < -1, log(0.5 * erfcx(-minimum(t, -0.5))) - t * t, log1p(-0.5 * erfc(t)));
  }
  // The density divided by ndtr; for negative x both are multiplied by exp(t^2).
  static constexpr auto grad(auto g, auto x, auto) {
    // Not minimum() and maximum(), whose derivatives at 0 are 1/2.
    const auto left = where(x < 0, x, 0) * (std::numbers::sqrt2 / 2);
    const auto right = where(x < 0, 0, x) * (std::numbers::sqrt2 / 2);
    const auto ratio = where(x < 0, 1 / erfcx(-left), exp(-(right * right)) / erfc(-right));
    return std::numbers::inv_sqrtpi * std::numbers::sqrt2 * g * ratio;
  }
};

struct Erfinv {
  static constexpr Doc doc{"erfinv", "Inverse of the error function."};
  static constexpr Domain domain{-0.9, 0.9};
  static constexpr auto forward(auto x) { return erfinv(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto y = erfinv(x);
    return 0.5 / std::numbers::inv_sqrtpi * g * exp(y * y);
  }
};

struct Ndtri {
  static constexpr Doc doc{"ndtri", "Inverse of ndtr, accurate in both tails."};
  static constexpr Domain domain{0.1, 0.9};
  static constexpr auto forward(auto x) { return ndtri(x); }
  // The reciprocal of the density at y.
  static constexpr auto grad(auto g, auto, auto y) {
    return std::numbers::sqrt2 / std::numbers::inv_sqrtpi * g * exp(y * y * 0.5);
  }
};

struct Lgamma {
  static constexpr Doc doc{"lgamma", "Logarithm of the magnitude of the gamma function."};
  static constexpr Domain domain{0.5, 4};
  static constexpr auto forward(auto x) { return lgamma(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * digamma(x); }
};

struct Digamma {
  static constexpr Doc doc{"digamma", "Derivative of lgamma."};
  static constexpr Domain domain{0.5, 4};
  static constexpr auto forward(auto x) { return digamma(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * polygamma(1, x); }
};

struct Polygamma {
  static constexpr Doc doc{"polygamma", "The n-th derivative of digamma."};
  static constexpr IntegerRule integer_rule = IntegerRule::kOrder;
  static constexpr std::array<std::string_view, 2> operands{"n", "input"};
  static constexpr bool is_called_on_second = true;
  static constexpr std::array domains{Domain{1, 1}, Domain{0.5, 4}};
  static constexpr auto forward(auto n, auto x) { return polygamma(n, x); }
  static constexpr auto grad_b(auto g, auto n, auto x, auto) { return g * polygamma(n + 1, x); }
};

struct Zeta {
  static constexpr Doc doc{"zeta",
                           "Hurwitz zeta function: the sum of (other + k)^-input over k >= 0."};
  static constexpr std::array domains{Domain{2.5, 2.5}, Domain{0.5, 4}};
  static constexpr auto forward(auto s, auto q) { return zeta(s, q); }
  static constexpr auto grad_b(auto g, auto s, auto q, auto) { return -g * (s * zeta(s + 1, q)); }
};

namespace detail {

/// The derivative of gammainc with respect to its second operand, a density: x^(a - 1) exp(-x) /
/// gamma(a).
constexpr auto gamma_density(auto a, auto x) {
  return exp(where(a == 1, 0, (a - 1) * log(x)) - x - lgamma(a));
}

}  // namespace detail

struct Gammainc {
  static constexpr Doc doc{
      "gammainc", "Regularised lower incomplete gamma function of other, with shape input."};
  static constexpr std::array domains{Domain{2.5, 2.5}, Domain{0.5, 4}};
  static constexpr auto forward(auto a, auto x) { return gammainc(a, x); }
  static constexpr auto grad_b(auto g, auto a, auto x, auto) {
    return g * detail::gamma_density(a, x);
  }
};

struct Gammaincc {
  static constexpr Doc doc{"gammaincc", "1 - gammainc, accurate also where the result is tiny."};
  static constexpr std::array domains{Domain{2.5, 2.5}, Domain{0.5, 4}};
  static constexpr auto forward(auto a, auto x) { return gammaincc(a, x); }
  static constexpr auto grad_b(auto g, auto a, auto x, auto) {
    return -g * detail::gamma_density(a, x);
  }
};

struct I0e {
  static constexpr Doc doc{"i0e", "exp(-|x|) times the modified Bessel function of order 0."};
  static constexpr Domain domain{0.5, 4};
  static constexpr auto forward(auto x) { return i0e(x); }
  static constexpr auto grad(auto g, auto x, auto y) { return g * (i1e(x) - sgn(x) * y); }
};

struct I1e {
  static constexpr Doc doc{"i1e", "exp(-|x|) times the modified Bessel function of order 1."};
  static constexpr Domain domain{0.5, 4};
  static constexpr auto forward(auto x) { return i1e(x); }
  static constexpr auto grad(auto g, auto x, auto y) {
    const auto divisor = where(x == 0, 1, x);
    return g * where(x == 0, 0.5, i0e(x) - y * (sgn(x) + 1 / divisor));
  }
};

struct I0 {
  static constexpr Doc doc{"i0", "Modified Bessel function I0 (first kind, order 0)."};
  static constexpr auto forward(auto x) { return exp(abs(x)) * i0e(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * (exp(abs(x)) * i1e(x)); }
};

struct I1 {
  static constexpr Doc doc{"i1", "Modified Bessel function I1 (first kind, order 1)."};
  static constexpr auto forward(auto x) { return exp(abs(x)) * i1e(x); }
  static constexpr auto grad(auto g, auto x, auto y) {
    const auto divisor = where(x == 0, 1, x);
    return g * where(x == 0, 0.5, exp(abs(x)) * i0e(x) - y / divisor);
  }
};

using SpecialOps = TypeList<Erf, Erfc, Erfcx, Ndtr, LogNdtr, Erfinv, Ndtri, Lgamma, Digamma,
                            Polygamma, Zeta, Gammainc, Gammaincc, I0e, I1e, I0, I1>;

}  // namespace eg::op
