#pragma once

// Ops that select between operands or clamp them.
//
// At a tie the gradient is the same as PyTorch's: shared equally by maximum and minimum, assigned
// to the first operand by fmax and fmin, and passed on by clamp.

#include <limits>

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Where {
  static constexpr Doc doc{"where", "input where condition is true, other elsewhere."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 3> operands{"condition", "input", "other"};
  static constexpr std::array domains{Domain{1, 1}, Domain{}, Domain{}};
  /// The first operand is a mask and takes no part in type promotion.
  static constexpr bool first_is_mask = true;
  static constexpr bool is_called_on_second = true;
  static constexpr auto forward(auto mask, auto a, auto b) { return where(mask != 0, a, b); }
  static constexpr auto grad_b(auto g, auto mask, auto, auto, auto) {
    return where(mask != 0, g, 0);
  }
  static constexpr auto grad_c(auto g, auto mask, auto, auto, auto) {
    return where(mask != 0, 0, g);
  }
};

struct MaskedFill {
  static constexpr Doc doc{"masked_fill", "value where mask is true, input elsewhere."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kFirst;
  static constexpr std::array<std::string_view, 3> operands{"input", "mask", "value"};
  static constexpr std::array domains{Domain{}, Domain{1, 1}, Domain{}};
  static constexpr auto forward(auto x, auto mask, auto value) {
    return where(mask != 0, value, x);
  }
  static constexpr auto grad_a(auto g, auto, auto mask, auto, auto) {
    return where(mask != 0, 0, g);
  }
  static constexpr auto grad_c(auto g, auto, auto mask, auto, auto) {
    return where(mask != 0, g, 0);
  }
};

struct Maximum {
  static constexpr Doc doc{"maximum", "The larger of two operands; NaN if either is NaN."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{-2, -0.1}, Domain{0.1, 2}};
  static constexpr auto forward(auto a, auto b) { return maximum(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return where(a < b, 0, where(a == b, g / 2, g));
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    return where(a > b, 0, where(a == b, g / 2, g));
  }
};

struct Minimum {
  static constexpr Doc doc{"minimum", "The smaller of two operands; NaN if either is NaN."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{-2, -0.1}, Domain{0.1, 2}};
  static constexpr auto forward(auto a, auto b) { return minimum(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return where(a > b, 0, where(a == b, g / 2, g));
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    return where(a < b, 0, where(a == b, g / 2, g));
  }
};

struct Fmax {
  static constexpr Doc doc{"fmax", "The larger of two operands; a number is preferred to NaN."};
  static constexpr bool ignores_nan = true;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{-2, -0.1}, Domain{0.1, 2}};
  static constexpr auto forward(auto a, auto b) { return fmax(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return where((a >= b) | (b != b), g, 0);
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    return where((a >= b) | (b != b), 0, g);
  }
};

struct Fmin {
  static constexpr Doc doc{"fmin", "The smaller of two operands; a number is preferred to NaN."};
  static constexpr bool ignores_nan = true;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{-2, -0.1}, Domain{0.1, 2}};
  static constexpr auto forward(auto a, auto b) { return fmin(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto b, auto) {
    return where((a <= b) | (b != b), g, 0);
  }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) {
    return where((a <= b) | (b != b), 0, g);
  }
};

struct Clamp {
  static constexpr Doc doc{"clamp", "input clamped to [min, max]; max if min is greater than max."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  struct Params {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
  };
  static constexpr std::array params{param_as(Param::Role::kLimit, "min", "-Infinity"),
                                     param_as(Param::Role::kLimit, "max", "Infinity")};
  static constexpr auto forward(auto x, const Params& p) {
    return minimum(maximum(x, p.min), p.max);
  }
  static constexpr auto grad(auto g, auto x, auto, const Params& p) {
    return where((x >= p.min) & (x <= p.max), g, 0);
  }
};

struct ClampMin {
  static constexpr Doc doc{"clamp_min", "input, but at least min."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 2> operands{"input", "min"};
  static constexpr std::array domains{Domain{0.1, 2}, Domain{-2, -0.1}};
  static constexpr auto forward(auto x, auto limit) { return maximum(x, limit); }
  static constexpr auto grad_a(auto g, auto x, auto limit, auto) { return where(x >= limit, g, 0); }
  static constexpr auto grad_b(auto g, auto x, auto limit, auto) { return where(x < limit, g, 0); }
};

struct ClampMax {
  static constexpr Doc doc{"clamp_max", "input, but at most max."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 2> operands{"input", "max"};
  static constexpr std::array domains{Domain{-2, -0.1}, Domain{0.1, 2}};
  static constexpr auto forward(auto x, auto limit) { return minimum(x, limit); }
  static constexpr auto grad_a(auto g, auto x, auto limit, auto) { return where(x <= limit, g, 0); }
  static constexpr auto grad_b(auto g, auto x, auto limit, auto) { return where(x > limit, g, 0); }
};

struct Heaviside {
  static constexpr Doc doc{"heaviside",
                           "0 for negative numbers, 1 for positive ones, values at 0."};
  static constexpr bool ignores_nan = true;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 2> operands{"input", "values"};
  static constexpr auto forward(auto x, auto at_zero) {
    return where(x == 0, at_zero, where(x > 0, 1, 0));
  }
};

struct NanToNum {
  static constexpr Doc doc{
      "nan_to_num", "Replaces NaN and infinities; by default with 0 and the largest numbers."};
  static constexpr bool ignores_nan = true;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  // The largest double; a narrower type converts it to its own largest number.
  struct Params {
    double nan = 0;
    double posinf = std::numeric_limits<double>::max();
    double neginf = std::numeric_limits<double>::lowest();
  };
  static constexpr std::array params{Param{"nan", "0"}, Param{"posinf", "1.7976931348623157e308"},
                                     Param{"neginf", "-1.7976931348623157e308"}};
  // Inlined, because a call would convert the parameters again for each pack.
  [[gnu::always_inline]] static constexpr auto forward(auto x, const Params& p) {
    // x - x is 0 if and only if x is finite.
    return where(x - x == 0, x, where(x != x, p.nan, where(x > 0, p.posinf, p.neginf)));
  }
  static constexpr auto grad(auto g, auto x, auto, const Params&) {
    return where(x - x == 0, g, 0);
  }
};

struct Copysign {
  static constexpr Doc doc{"copysign", "The magnitude of input with the sign of other."};
  static constexpr std::array domains{Domain{0.25, 2}, Domain{-2, -0.25}};
  static constexpr auto forward(auto a, auto b) { return copysign(a, b); }
  static constexpr auto grad_a(auto g, auto a, auto, auto y) {
    return where(a == 0, 0, g * (y / where(a == 0, 1, a)));
  }
  static constexpr auto grad_b(auto, auto, auto, auto) { return 0; }
};

using SelectionOps = TypeList<Where, MaskedFill, Maximum, Minimum, Fmax, Fmin, Clamp, ClampMin,
                              ClampMax, Heaviside, NanToNum, Copysign>;

}  // namespace eg::op
