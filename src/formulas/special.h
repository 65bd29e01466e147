#pragma once

// The error function, and the gamma function's logarithm with its derivatives.

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
  static constexpr Doc doc{"erfc", "1 - erf(x), exact also where that is tiny."};
  static constexpr auto forward(auto x) { return erfc(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    return -2 * std::numbers::inv_sqrtpi * g * exp(-(x * x));
  }
};

struct Erfinv {
  static constexpr Doc doc{"erfinv", "The number whose error function is the element."};
  static constexpr Domain domain{-0.9, 0.9};
  static constexpr auto forward(auto x) { return erfinv(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto y = erfinv(x);
    return 0.5 / std::numbers::inv_sqrtpi * g * exp(y * y);
  }
};

struct Lgamma {
  static constexpr Doc doc{"lgamma", "Logarithm of the gamma function's magnitude."};
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
  static constexpr std::array<std::string_view, 2> operands{"n", "input"};
  static constexpr std::array domains{Domain{1, 1}, Domain{0.5, 4}};
  static constexpr auto forward(auto n, auto x) { return polygamma(n, x); }
  static constexpr auto grad_b(auto g, auto n, auto x, auto) { return g * polygamma(n + 1, x); }
};

using SpecialOps = TypeList<Erf, Erfc, Erfinv, Lgamma, Digamma, Polygamma>;

}  // namespace eg::op
