#pragma once

// Exponentials, logarithms, roots and powers.

#include <limits>
#include <numbers>

#include "base/infinity.h"
#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Exp {
  static constexpr Doc doc{"exp", "e to the power of every element."};
  static constexpr bool is_hot = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return exp(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * y; }
};

struct Exp2 {
  static constexpr Doc doc{"exp2", "2 to the power of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return exp2(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * y * std::numbers::ln2; }
};

struct Expm1 {
  static constexpr Doc doc{"expm1", "exp(x) - 1, accurate near 0."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return expm1(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * (y + 1); }
};

struct Log {
  static constexpr Doc doc{"log", "Natural logarithm of every element."};
  static constexpr bool is_hot = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return log(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / x; }
};

struct Log2 {
  static constexpr Doc doc{"log2", "Logarithm of every element to base 2."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return log2(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / (x * std::numbers::ln2); }
};

struct Log10 {
  static constexpr Doc doc{"log10", "Logarithm of every element to base 10."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return log10(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / (x * std::numbers::ln10); }
};

struct Log1p {
  static constexpr Doc doc{"log1p", "log(1 + x), accurate near 0."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{-0.5, 2};
  static constexpr auto forward(auto x) { return log1p(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / (x + 1); }
};

struct Sqrt {
  static constexpr Doc doc{"sqrt", "Square root of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return sqrt(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g / (2 * y); }
};

struct Rsqrt {
  static constexpr Doc doc{"rsqrt", "1 / sqrt(x)."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) { return rsqrt(x); }
  static constexpr auto grad(auto g, auto, auto y) { return -0.5 * g * (y * y * y); }
};

struct Pow {
  static constexpr Doc doc{"pow", "input to the power of exponent."};
  static constexpr IntegerRule integer_rule = IntegerRule::kPower;
  static constexpr bool takes_bool = false;
  static constexpr ComplexRule complex_rule = ComplexRule::kMultivalued;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 2> operands{"input", "exponent"};
  static constexpr std::array domains{Domain{0.5, 2}, Domain{-2, 2}};
  static constexpr auto forward(auto a, auto b) { return pow(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return where(b == 0, 0, g * (b * pow(a, where(b == 0, 1, b - 1))));
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto y) {
    const auto is_zero = (a == 0) & (real(b) >= 0);
    return where(is_zero, 0, g * (y * log(where(is_zero, 1, a))));
  }
};

struct Logaddexp {
  static constexpr Doc doc{"logaddexp", "log(exp(input) + exp(other)), without overflow."};
  // Equal operands are a separate case, because infinity minus infinity is NaN.
  static constexpr auto forward(auto a, auto b) {
    return where(a == b, a + std::numbers::ln2, maximum(a, b) + log1p(exp(-abs(a - b))));
  }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) { return g * sigmoid(a - b); }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) { return g * sigmoid(b - a); }
};

struct Logaddexp2 {
  static constexpr Doc doc{"logaddexp2", "log2(2^input + 2^other), without overflow."};
  static constexpr auto forward(auto a, auto b) {
    return where(a == b, a + 1, maximum(a, b) + log1p(exp2(-abs(a - b))) * std::numbers::log2e);
  }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return g * sigmoid((a - b) * std::numbers::ln2);
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    return g * sigmoid((b - a) * std::numbers::ln2);
  }
};

struct Xlogy {
  static constexpr Doc doc{"xlogy", "input * log(other); 0 where input is 0, unless other is NaN."};
  static constexpr std::array domains{Domain{-2, 2}, Domain{0.5, 3}};
  static constexpr auto forward(auto a, auto b) {
    return where(b != b, b, where(a == 0, 0, a * log(b)));
  }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    const auto is_zero = (a == 0) & (b <= 0);
    return where(is_zero, 0, g * log(where(is_zero, 1, b)));
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    const auto is_zero = (a == 0) & (b == 0);
    return where(is_zero, 0, g * a / where(is_zero, 1, b));
  }
};

struct Xlog1py {
  static constexpr Doc doc{"xlog1py",
                           "input * log(1 + other); 0 where input is 0, unless other is NaN."};
  static constexpr std::array domains{Domain{-2, 2}, Domain{-0.5, 3}};
  static constexpr auto forward(auto a, auto b) {
    return where(b != b, b, where(a == 0, 0, a * log1p(b)));
  }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    const auto is_zero = (a == 0) & (b <= -1);
    return where(is_zero, 0, g * log1p(where(is_zero, 0, b)));
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    const auto is_zero = (a == 0) & (b == -1);
    return where(is_zero, 0, g * a / where(is_zero, 1, b + 1));
  }
};

struct Entr {
  static constexpr Doc doc{"entr",
                           "-x log(x), the terms of an entropy; 0 at 0, -Infinity for negative x."};
  static constexpr Domain domain{0.5, 3};
  static constexpr auto forward(auto x) {
    const auto edge = where(x == 0, 0, -std::numeric_limits<double>::infinity());
    return where((x > 0) | (x != x), -x * log(x), edge);
  }
  static constexpr auto grad(auto g, auto x, auto) { return g * (-1 - log(x)); }
};

struct Logit {
  static constexpr Doc doc{
      "logit", "log(x / (1 - x)); x is first clamped to [eps, 1 - eps] if eps is given."};
  static constexpr Domain domain{0.1, 0.9};
  struct Params {
    /// If negative, x is not clamped and the result outside [0, 1] is NaN.
    double eps = -1;
  };
  static constexpr std::array params{Param{"eps", "-1"}};
  static constexpr auto forward(auto x, const Params& p) {
    const double low = p.eps < 0 ? -kInfinity : p.eps;
    const double high = p.eps < 0 ? kInfinity : 1 - p.eps;
    const auto limited = minimum(maximum(x, low), high);
    return log(limited / (1 - limited));
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    const double low = p.eps < 0 ? 0 : p.eps;
    const double outside = p.eps < 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
    return where((x < low) | (x > 1 - low), outside, g / (x * (1 - x)));
  }
};

using ExponentialOps = TypeList<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt, Pow,
                                Logaddexp, Logaddexp2, Xlogy, Xlog1py, Entr, Logit>;

}  // namespace eg::op
