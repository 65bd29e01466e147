#pragma once

// The sums of a tensor and a product that PyTorch has besides addmm and baddbmm, and renorm.
// Composites.

#include "dispatch/function_op.h"

namespace eg {

struct Addmv {
  static constexpr op::Doc doc{"addmv", "beta * input + alpha * (mat @ vec)."};
  static constexpr bool in_place = true;
  static constexpr std::array args{Arg{"input"}, Arg{"mat"}, Arg{"vec"}, Arg{"beta", "1"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2]), T([2, 3]), T([3])",
                                                           "T([]), T([2, 3]), T([3]), 0.5, 2"};
  static Tensor call(const Tensor& input, const Tensor& mat, const Tensor& vec, Scalar beta = 1,
                     Scalar alpha = 1);
};

struct Addr {
  static constexpr op::Doc doc{"addr", "beta * input + alpha * outer(vec1, vec2)."};
  static constexpr bool in_place = true;
  static constexpr std::array args{Arg{"input"}, Arg{"vec1"}, Arg{"vec2"}, Arg{"beta", "1"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), T([2]), T([3])",
                                                           "T([3]), T([2]), T([3]), 0.5, 2"};
  static Tensor call(const Tensor& input, const Tensor& vec1, const Tensor& vec2, Scalar beta = 1,
                     Scalar alpha = 1);
};

struct Addbmm {
  static constexpr op::Doc doc{"addbmm",
                               "beta * input + alpha * the sum over a batch of matrix products."};
  static constexpr bool in_place = true;
  static constexpr std::array args{Arg{"input"}, Arg{"batch1"}, Arg{"batch2"}, Arg{"beta", "1"},
                                   Arg{"alpha", "1"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([3, 2]), T([2, 3, 4]), T([2, 4, 2])", "T([2]), T([2, 3, 4]), T([2, 4, 2]), 0.5, 2"};
  static Tensor call(const Tensor& input, const Tensor& batch1, const Tensor& batch2,
                     Scalar beta = 1, Scalar alpha = 1);
};

struct Renorm {
  static constexpr op::Doc doc{
      "renorm", "input with slices along dim of a p-norm above maxnorm scaled down to maxnorm."};
  static constexpr bool ignores_nan = true;
  static constexpr bool in_place = true;
  static constexpr std::array args{Arg{"input"}, Arg{"p"}, Arg{"dim"}, Arg{"maxnorm"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), 2, 0, 2",
                                                           "T([2, 3, 2]), 1, -2, 3"};
  static Tensor call(const Tensor& input, double p, std::int64_t dim, double maxnorm);
};

using AddedProductOps = TypeList<Addmv, Addr, Addbmm, Renorm>;

}  // namespace eg
