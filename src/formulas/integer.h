#pragma once

// Ops on the bits and divisors of integers. They have no gradients.

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct BitwiseAnd {
  static constexpr Doc doc{"bitwise_and", "Bitwise and of integers; logical and of booleans."};
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_and(a, b); }
};

struct BitwiseOr {
  static constexpr Doc doc{"bitwise_or", "Bitwise or of integers; logical or of booleans."};
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_or(a, b); }
};

struct BitwiseXor {
  static constexpr Doc doc{"bitwise_xor",
                           "Bitwise exclusive or of integers; logical exclusive or of booleans."};
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_xor(a, b); }
};

struct BitwiseNot {
  static constexpr Doc doc{"bitwise_not",
                           "Bitwise complement of integers; logical not of booleans."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto x) { return -x - 1; }
};

struct BitwiseLeftShift {
  static constexpr Doc doc{"bitwise_left_shift", "input shifted left by other bits."};
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kInteger;
  static constexpr auto forward(auto a, auto b) { return bitwise_left_shift(a, b); }
};

struct BitwiseRightShift {
  static constexpr Doc doc{"bitwise_right_shift",
                           "input shifted right by other bits, preserving the sign."};
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
  // Also correct for zeros, because integer division by 0 yields 0.
  static constexpr auto forward(auto a, auto b) { return abs(floor_divide(a, gcd(a, b)) * b); }
};

using IntegerOps = TypeList<BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, BitwiseLeftShift,
                            BitwiseRightShift, Gcd, Lcm>;

}  // namespace eg::op
