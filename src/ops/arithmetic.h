#pragma once

// Sums, products, powers and what compares or chooses between two operands.

#include "base/type_list.h"
#include "ops/elementwise.h"

namespace eg::op {

struct Add {
  static constexpr Doc doc{"add", "Elementwise sum, with broadcasting."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto a, auto b) { return a + b; }
  static constexpr auto grad_a(auto g, auto, auto, auto) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto) { return g; }
};

struct Sub {
  static constexpr Doc doc{"sub", "Elementwise difference, with broadcasting."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto a, auto b) { return a - b; }
  static constexpr auto grad_a(auto g, auto, auto, auto) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto) { return -g; }
};

struct Mul {
  static constexpr Doc doc{"mul", "Elementwise product, with broadcasting."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto a, auto b) { return a * b; }
  static constexpr auto grad_a(auto g, auto, auto b, auto) { return g * b; }
  static constexpr auto grad_b(auto g, auto a, auto, auto) { return g * a; }
};

struct Div {
  static constexpr Doc doc{"div", "Elementwise quotient; integers are divided as floats."};
  static constexpr std::array domains{Domain{-2, 2}, Domain{0.5, 2}};
  static constexpr auto forward(auto a, auto b) { return a / b; }
  static constexpr auto grad_a(auto g, auto, auto b, auto) { return g / b; }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) { return -g * ((a / b) / b); }
};

struct Neg {
  static constexpr Doc doc{"neg", "The negative of every element."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto x) { return -x; }
  static constexpr auto grad(auto g, auto, auto) { return -g; }
};

struct Where {
  static constexpr Doc doc{"where", "input where condition holds, other elsewhere."};
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array<std::string_view, 3> operands{"condition", "input", "other"};
  /// The first operand is a mask: it takes no part in promotion.
  static constexpr bool first_is_mask = true;
  static constexpr auto forward(auto mask, auto a, auto b) { return where(mask != 0, a, b); }
  static constexpr auto grad_b(auto g, auto mask, auto, auto, auto) { return where(mask != 0, g, 0); }
  static constexpr auto grad_c(auto g, auto mask, auto, auto, auto) { return where(mask != 0, 0, g); }
};

using ArithmeticOps = TypeList<Add, Sub, Mul, Div, Neg, Where>;

}  // namespace eg::op
