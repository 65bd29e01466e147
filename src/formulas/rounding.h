#pragma once

// Magnitude, sign and rounding to integers. The gradients of step functions are zero, also at the
// jumps.

#include <cmath>

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Abs {
  static constexpr Doc doc{"abs", "Magnitude of every element."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return abs(x); }
  static constexpr auto grad(auto g, auto x, auto) { return g * sgn(x); }
};

struct Sign {
  static constexpr Doc doc{"sign", "The sign of every element: -1, 0 or 1."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return sign(x); }
  static constexpr auto grad(auto, auto, auto) { return 0; }
};

struct Sgn {
  static constexpr Doc doc{"sgn",
                           "sign; for complex numbers, the number divided by its magnitude."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{0.25, 2};
  static constexpr auto forward(auto x) { return sgn(x); }
  // Only a change of phase changes the result. For real numbers the formula is zero: (g - g) /
  // 2|x|.
  static constexpr auto grad(auto g, auto x, auto y) {
    // Zero, or a real NaN, whose sign is 0 too.
    const auto is_signless = y == 0;
    return where(is_signless, 0, (g - y * y * conj(g)) / (2 * abs(where(is_signless, 1, x))));
  }
};

struct Floor {
  static constexpr Doc doc{"floor", "The largest integer that is at most the element."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{1.1, 1.9};
  static constexpr auto forward(auto x) { return floor(x); }
  static constexpr auto grad(auto, auto, auto) { return 0; }
};

struct Ceil {
  static constexpr Doc doc{"ceil", "The smallest integer that is at least the element."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{1.1, 1.9};
  static constexpr auto forward(auto x) { return ceil(x); }
  static constexpr auto grad(auto, auto, auto) { return 0; }
};

struct Round {
  static constexpr Doc doc{"round",
                           "Rounded to the given number of decimals; halves are rounded to even."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{0.6, 1.4};
  struct Params {
    double decimals = 0;
  };
  static constexpr std::array params{param_as(Param::Role::kForFloats, "decimals", "0")};
  static constexpr auto forward(auto x, const Params& p) {
    if (p.decimals == 0) return round(x);
    const decltype(x) scale(std::pow(10, std::abs(p.decimals)));
    return p.decimals > 0 ? round(x * scale) / scale : round(x / scale) * scale;
  }
  static constexpr auto grad(auto, auto, auto, const Params&) { return 0; }
  // Rounding to integers, to decimals, and to tens: see formulas/forms.h.
  static constexpr std::array<std::array<double, 2>, 3> form_examples{{{0, 0}, {1, 2}, {-1, -2}}};
  static constexpr std::size_t form(const Params& p) {
    return p.decimals == 0 ? 0 : p.decimals > 0 ? 1 : 2;
  }
};

struct Trunc {
  static constexpr Doc doc{"trunc", "Rounded to an integer towards zero."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr Domain domain{1.1, 1.9};
  static constexpr auto forward(auto x) { return trunc(x); }
  static constexpr auto grad(auto, auto, auto) { return 0; }
};

struct Frac {
  static constexpr Doc doc{"frac", "The fractional part: x - trunc(x)."};
  static constexpr Domain domain{1.1, 1.9};
  static constexpr auto forward(auto x) { return x - trunc(x); }
  static constexpr auto grad(auto g, auto, auto) { return g; }
};

using RoundingOps = TypeList<Abs, Sign, Sgn, Floor, Ceil, Round, Trunc, Frac>;

}  // namespace eg::op
