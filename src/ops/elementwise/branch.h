#pragma once

// Ops that select between their arguments element by element, or compare them with a tolerance.

#include "dispatch/function_op.h"

namespace eg {

struct Prelu {
  static constexpr op::Doc doc{
      "prelu", "input where it is positive, else weight * input; one weight, or one per channel."};
  static constexpr std::array args{Arg{"input"}, Arg{"weight"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3]), T([1])",
                                                           "T([2, 3, 4]), T([3])", "T([]), T([])"};
  static Tensor call(const Tensor& input, const Tensor& weight);
};

struct Threshold {
  static constexpr op::Doc doc{"threshold", "input where it is above threshold, else value."};
  static constexpr std::array args{Arg{"input"}, Arg{"threshold"}, Arg{"value"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), 0.25, -1"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, Scalar threshold, Scalar value);
};

struct Isclose {
  static constexpr op::Doc doc{
      "isclose", "Whether elements differ by at most atol + rtol * |other|, or are equal."};
  static constexpr std::array args{Arg{"input"}, Arg{"other"}, Arg{"rtol", "1e-5"},
                                   Arg{"atol", "1e-8"}, Arg{"equal_nan", "false"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), T([3])"};
  static Tensor call(const Tensor& input, const Tensor& other, double rtol = 1e-5,
                     double atol = 1e-8, bool equal_nan = false);
};

using BranchOps = TypeList<Prelu, Threshold, Isclose>;

}  // namespace eg
