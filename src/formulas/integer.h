#pragma once

// Bits and divisors of integers. None has a gradient.

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct BitwiseAnd {
  static constexpr Doc doc{"bitwise_and", "The bits that both integers have; and, for bool."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_and(a, b); }
};

struct BitwiseOr {
  static constexpr Doc doc{"bitwise_or", "The bits that one of the integers has; or, for bool."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_or(a, b); }
};

struct BitwiseXor {
  static constexpr Doc doc{"bitwise_xor", "The bits in which the integers differ; xor, for bool."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_xor(a, b); }
};

struct BitwiseNot {
  static constexpr Doc doc{"bitwise_not", "All bits of every integer turned round; not, for bool."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto x) { return -x - 1; }
};

struct BitwiseLeftShift {
  static constexpr Doc doc{"bitwise_left_shift", "The bits of input moved up by other places."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_left_shift(a, b); }
};

struct BitwiseRightShift {
  static constexpr Doc doc{"bitwise_right_shift",
                           "The bits of input moved down by other places; the sign stays."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_right_shift(a, b); }
};

struct Gcd {
  static constexpr Doc doc{"gcd", "The greatest common divisor, never negative."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return gcd(a, b); }
};

struct Lcm {
  static constexpr Doc doc{"lcm", "The least common multiple, never negative."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  // Of zeros too: dividing by 0 gives 0.
  static constexpr auto forward(auto a, auto b) { return abs(floor_divide(a, gcd(a, b)) * b); }
};

using IntegerOps = TypeList<BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, BitwiseLeftShift,
                            BitwiseRightShift, Gcd, Lcm>;

}  // namespace eg::op
