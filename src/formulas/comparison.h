#pragma once

// Predicates: their results are bool and have no gradient. Those with `in_place` can be written
// over their first operand, as zeros and ones of its dtype.

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Eq {
  static constexpr Doc doc{"eq", "True where the operands are equal."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a == b; }
};

struct Ne {
  static constexpr Doc doc{"ne", "True where the operands differ."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a != b; }
};

struct Lt {
  static constexpr Doc doc{"lt", "True where input is less than other."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a < b; }
};

struct Le {
  static constexpr Doc doc{"le", "True where input is less than or equal to other."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a <= b; }
};

struct Gt {
  static constexpr Doc doc{"gt", "True where input is greater than other."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a > b; }
};

struct Ge {
  static constexpr Doc doc{"ge", "True where input is greater than or equal to other."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return a >= b; }
};

struct Signbit {
  static constexpr Doc doc{"signbit", "True for negative numbers, including -0."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr auto forward(auto x) { return copysign(1, x) < 0; }
};

struct LogicalAnd {
  static constexpr Doc doc{"logical_and", "True where both operands are nonzero."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return (a != 0) & (b != 0); }
};

struct LogicalOr {
  static constexpr Doc doc{"logical_or", "True where at least one operand is nonzero."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) { return (a != 0) | (b != 0); }
};

struct LogicalXor {
  static constexpr Doc doc{"logical_xor", "True where exactly one operand is nonzero."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto a, auto b) {
    return ((a != 0) & (b == 0)) | ((a == 0) & (b != 0));
  }
};

struct LogicalNot {
  static constexpr Doc doc{"logical_not", "True where input is zero."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr bool in_place = true;
  static constexpr auto forward(auto x) { return x == 0; }
};

struct Isnan {
  static constexpr Doc doc{"isnan", "True where input is NaN."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr auto forward(auto x) { return x != x; }
};

// x - x is NaN for an infinite x and 0 for every integer. It needs no constant that integer types
// lack.
struct Isinf {
  static constexpr Doc doc{"isinf", "True where input is infinite."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr auto forward(auto x) { return (x == x) & (x - x != 0); }
};

struct Isfinite {
  static constexpr Doc doc{"isfinite", "True where input is neither infinite nor NaN."};
  static constexpr ComplexRule complex_rule = ComplexRule::kAsWritten;
  static constexpr DTypeRule dtype_rule = DTypeRule::kBool;
  static constexpr auto forward(auto x) { return x - x == 0; }
};

using ComparisonOps = TypeList<Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor,
                               LogicalNot, Signbit, Isnan, Isinf, Isfinite>;

}  // namespace eg::op
