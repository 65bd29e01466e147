#pragma once

// Trigonometric and hyperbolic functions and their inverses.

#include <array>
#include <numbers>

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

namespace detail {

/// 1 - x^2. On a branch cut the sign of a zero imaginary part tells the side: a difference with 1
/// keeps it, a difference from 1 or a sum with 1 would not.
constexpr auto one_minus_square(auto x) {
  const auto less = x * x - 1;
  return where(less == 0, 0, -less);
}

}  // namespace detail

struct Sin {
  static constexpr Doc doc{"sin", "Sine of every element, in radians."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return sin(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * cos(x); }
};

struct Cos {
  static constexpr Doc doc{"cos", "Cosine of every element, in radians."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return cos(x); }
  static constexpr auto grad(auto g, auto x, auto) { return -g * sin(x); }
};

struct Tan {
  static constexpr Doc doc{"tan", "Tangent of every element, in radians."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{-1, 1};
  static constexpr auto forward(auto x) { return tan(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * (1 + y * y); }
};

struct Asin {
  static constexpr Doc doc{"asin", "Angle in [-pi/2, pi/2] whose sine is the element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{-0.9, 0.9};
  static constexpr auto forward(auto x) { return asin(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    return g * rsqrt(detail::one_minus_square(x));
  }
};

struct Acos {
  static constexpr Doc doc{"acos", "Angle in [0, pi] whose cosine is the element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{-0.9, 0.9};
  static constexpr auto forward(auto x) { return acos(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    return -g * rsqrt(detail::one_minus_square(x));
  }
};

struct Atan {
  static constexpr Doc doc{"atan", "Angle in [-pi/2, pi/2] whose tangent is the element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return atan(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / (x * x + 1); }
};

struct Atan2 {
  static constexpr Doc doc{"atan2", "Angle of the point (other, input), in [-pi, pi]."};
  static constexpr std::array domains{Domain{-2, 2}, Domain{0.5, 2}};
  static constexpr auto forward(auto y, auto x) { return atan2(y, x); }
  static constexpr auto grad_a(auto g, auto y, auto x, auto) { return g * (x / (y * y + x * x)); }
  static constexpr auto grad_b(auto g, auto y, auto x, auto) { return g * (-y / (y * y + x * x)); }
};

struct Hypot {
  static constexpr Doc doc{"hypot", "sqrt(input^2 + other^2), without overflow."};
  static constexpr std::array domains{Domain{0.5, 2}, Domain{-2, 2}};
  static constexpr auto forward(auto a, auto b) { return hypot(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto, auto y) { return g * (a / y); }
  static constexpr auto grad_b(auto g, auto, auto b, auto y) { return g * (b / y); }
};

struct Sinc {
  static constexpr Doc doc{"sinc", "sin(pi x) / (pi x), and 1 at 0."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) {
    const auto angle = x * std::numbers::pi;
    return where(x == 0, 1, sin(angle) / angle);
  }
  static constexpr auto grad(auto g, auto x, auto) {
    const auto angle = x * std::numbers::pi;
    // Near 0 the closed form is a difference of nearly equal numbers; the series is not.
    const auto is_small = abs(x) < 0.25;
    const auto large = where(is_small, 1, angle);
    const auto closed = (cos(large) - sin(large) / large) / large;
    return g * std::numbers::pi * where(is_small, slope_near_zero(angle), closed);
  }

 private:
  /// The derivative of sin(u) / u for |u| < 0.8: the sum over k of (-1)^k 2k u^(2k-1) / (2k+1)!.
  static constexpr auto slope_near_zero(auto u) {
    constexpr std::array kSeries{
        -1.0 / 3,       1.0 / 30,          -1.0 / 840,          1.0 / 45360,
        -1.0 / 3991680, 1.0 / 518918400.0, -1.0 / 93405312000.0};
    const auto z = u * u;
    auto sum = kSeries[kSeries.size() - 2] + z * kSeries.back();
    for (std::size_t k = kSeries.size() - 2; k-- > 0;) sum = kSeries[k] + z * sum;
    return u * sum;
  }
};

struct Sinh {
  static constexpr Doc doc{"sinh", "Hyperbolic sine of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return sinh(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * cosh(x); }
};

struct Cosh {
  static constexpr Doc doc{"cosh", "Hyperbolic cosine of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return cosh(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * sinh(x); }
};

struct Tanh {
  static constexpr Doc doc{"tanh", "Hyperbolic tangent of every element."};
  static constexpr bool is_hot = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return tanh(x); }
  static constexpr auto grad(auto g, auto, auto y) { return g * (1 - y * y); }
};

struct Asinh {
  static constexpr Doc doc{"asinh", "Inverse hyperbolic sine of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr auto forward(auto x) { return asinh(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * rsqrt(x * x - -1.0); }
};

struct Acosh {
  static constexpr Doc doc{"acosh", "Inverse hyperbolic cosine of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{1.25, 3};
  static constexpr auto forward(auto x) { return acosh(x); }
  static constexpr auto grad(auto g, auto x, auto) {
    // The root of the product would have the wrong sign where the real part is negative.
    return g * (rsqrt(x - 1) * rsqrt(x - -1.0));
  }
};

struct Atanh {
  static constexpr Doc doc{"atanh", "Inverse hyperbolic tangent of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{-0.9, 0.9};
  static constexpr auto forward(auto x) { return atanh(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g / (1 - x * x); }
};

using TrigonometricOps = TypeList<Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Hypot, Sinc, Sinh, Cosh,
                                  Tanh, Asinh, Acosh, Atanh>;

}  // namespace eg::op
