#pragma once

// Sums, products, quotients and their remainders.

#include "base/type_list.h"
#include "formulas/elementwise.h"

namespace eg::op {

struct Add {
  static constexpr Doc doc{"add", "input + alpha * other, with broadcasting."};
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  struct Params {
    double alpha = 1;
  };
  static constexpr std::array params{param_as(Param::Role::kFactor, "alpha", "1")};
  static constexpr auto forward(auto a, auto b, const Params& p) { return a + b * p.alpha; }
  static constexpr auto grad_a(auto g, auto, auto, auto, const Params&) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto, const Params& p) { return g * p.alpha; }
  /// True in the common case, in which the gradient of b is the incoming gradient and no kernel
  /// runs.
  static constexpr bool grad_b_is_identity(const Params& p) { return p.alpha == 1; }
};

struct Sub {
  static constexpr Doc doc{"sub", "input - alpha * other, with broadcasting."};
  static constexpr std::string_view refuses_bool =
      "Subtraction of bool tensors is not supported; to invert a mask, call logicalNot().";
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  struct Params {
    double alpha = 1;
  };
  static constexpr std::array params{param_as(Param::Role::kFactor, "alpha", "1")};
  static constexpr auto forward(auto a, auto b, const Params& p) { return a - b * p.alpha; }
  static constexpr auto grad_a(auto g, auto, auto, auto, const Params&) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto, const Params& p) { return g * -p.alpha; }
};

struct Mul {
  static constexpr Doc doc{"mul", "Elementwise product, with broadcasting."};
  static constexpr bool takes_exact_number = true;
  static constexpr IntegerRule integer_rule = IntegerRule::kModular;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto a, auto b) { return a * b; }
  static constexpr auto grad_a(auto g, auto, auto b, auto) { return g * b; }
  static constexpr auto grad_b(auto g, auto a, auto, auto) { return g * a; }
};

struct Div {
  static constexpr Doc doc{"div", "Elementwise quotient; integers are divided as floats."};
  static constexpr bool takes_exact_number = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr std::array domains{Domain{-2, 2}, Domain{0.5, 2}};
  static constexpr auto forward(auto a, auto b) { return a / b; }
  static constexpr auto grad_a(auto g, auto, auto b, auto) { return g / b; }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) { return -g * ((a / b) / b); }
};

struct Neg {
  static constexpr Doc doc{"neg", "The negative of every element."};
  static constexpr std::string_view refuses_bool =
      "Negation of bool tensors is not supported; to invert a mask, call logicalNot().";
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto x) { return -x; }
  static constexpr auto grad(auto g, auto, auto) { return -g; }
};

struct Reciprocal {
  static constexpr Doc doc{"reciprocal", "1 / x."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr Domain domain{0.5, 2};
  static constexpr auto forward(auto x) { return 1 / x; }
  static constexpr auto grad(auto g, auto, auto y) { return -g * (y * y); }
};

struct Square {
  static constexpr Doc doc{"square", "x * x."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr auto forward(auto x) { return x * x; }
  static constexpr auto grad(auto g, auto x, auto) { return g * (2 * x); }
};

struct Fmod {
  static constexpr Doc doc{"fmod", "Remainder of division, with the sign of input."};
  static constexpr IntegerRule integer_rule = IntegerRule::kDivisor;
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{2.1, 2.8}, Domain{0.95, 1}};
  static constexpr auto forward(auto a, auto b) { return fmod(a, b); }
  static constexpr auto grad_a(auto g, auto, auto, auto) { return g; }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) { return -g * trunc(a / b); }
};

struct Remainder {
  static constexpr Doc doc{"remainder", "Remainder of division, with the sign of other."};
  static constexpr IntegerRule integer_rule = IntegerRule::kDivisor;
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{-2.8, -2.1}, Domain{0.95, 1}};
  static constexpr auto forward(auto a, auto b) { return remainder(a, b); }
  static constexpr auto grad_a(auto g, auto, auto, auto) { return g; }
  static constexpr auto grad_b(auto g, auto a, auto b, auto) { return -g * floor_divide(a, b); }
};

struct FloorDivide {
  static constexpr Doc doc{"floor_divide", "Quotient rounded down to an integer."};
  static constexpr bool takes_exact_number = true;
  static constexpr IntegerRule integer_rule = IntegerRule::kDivisor;
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{2.1, 2.8}, Domain{0.95, 1}};
  static constexpr auto forward(auto a, auto b) { return floor_divide(a, b); }
  static constexpr auto grad_a(auto, auto, auto, auto) { return 0; }
  static constexpr auto grad_b(auto, auto, auto, auto) { return 0; }
};

struct TruncDivide {
  static constexpr Doc doc{"trunc_divide", "Quotient rounded to an integer towards zero."};
  static constexpr bool takes_exact_number = true;
  static constexpr IntegerRule integer_rule = IntegerRule::kDivisor;
  static constexpr bool takes_bool = false;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr std::array domains{Domain{2.1, 2.8}, Domain{0.95, 1}};
  static constexpr auto forward(auto a, auto b) { return trunc(a / b); }
  static constexpr auto grad_a(auto, auto, auto, auto) { return 0; }
  static constexpr auto grad_b(auto, auto, auto, auto) { return 0; }
};

struct Lerp {
  static constexpr Doc doc{"lerp", "input + weight * (end - input)."};
  static constexpr bool takes_exact_number = true;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr std::array<std::string_view, 3> operands{"input", "end", "weight"};
  // Two forms, so that weights 0 and 1 return input and end exactly.
  static constexpr auto forward(auto a, auto b, auto w) {
    return where(abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w));
  }
  static constexpr auto grad_a(auto g, auto, auto, auto w, auto) { return g * (1 - w); }
  static constexpr auto grad_b(auto g, auto, auto, auto w, auto) { return g * w; }
  static constexpr auto grad_c(auto g, auto a, auto b, auto, auto) { return g * (b - a); }
};

struct Addcmul {
  static constexpr Doc doc{"addcmul", "input + value * tensor1 * tensor2."};
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr DTypeRule dtype_rule = DTypeRule::kSame;
  static constexpr bool takes_bool = false;
  static constexpr std::array<std::string_view, 3> operands{"input", "tensor1", "tensor2"};
  struct Params {
    double value = 1;
  };
  static constexpr std::array params{param_as(Param::Role::kFactor, "value", "1")};
  static constexpr auto forward(auto x, auto a, auto b, const Params& p) {
    return x + a * p.value * b;
  }
  static constexpr auto grad_a(auto g, auto, auto, auto, auto, const Params&) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto b, auto, const Params& p) {
    return g * (b * p.value);
  }
  static constexpr auto grad_c(auto g, auto, auto a, auto, auto, const Params& p) {
    return g * (a * p.value);
  }
};

struct Addcdiv {
  static constexpr Doc doc{"addcdiv", "input + value * tensor1 / tensor2."};
  static constexpr IntegerRule integer_rule = IntegerRule::kQuotient;
  static constexpr ComplexRule complex_rule = ComplexRule::kHolomorphic;
  static constexpr std::array<std::string_view, 3> operands{"input", "tensor1", "tensor2"};
  static constexpr std::array domains{Domain{-2, 2}, Domain{-2, 2}, Domain{0.5, 2}};
  struct Params {
    double value = 1;
  };
  static constexpr std::array params{Param{"value", "1"}};
  static constexpr auto forward(auto x, auto a, auto b, const Params& p) {
    return x + a * p.value / b;
  }
  static constexpr auto grad_a(auto g, auto, auto, auto, auto, const Params&) { return g; }
  static constexpr auto grad_b(auto g, auto, auto, auto b, auto, const Params& p) {
    return g * (p.value / b);
  }
  static constexpr auto grad_c(auto g, auto, auto a, auto b, auto, const Params& p) {
    return -g * (a * p.value / (b * b));
  }
};

using ArithmeticOps = TypeList<Add, Sub, Mul, Div, Neg, Reciprocal, Square, Fmod, Remainder,
                               FloorDivide, Lerp, Addcmul, Addcdiv>;

/// Formulas that are not separate ops: div() with a rounding mode.
using QuotientFormulas = TypeList<TruncDivide>;

}  // namespace eg::op
