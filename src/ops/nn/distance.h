#pragma once

// Normalized vectors, distances between vectors, and the gated linear unit, which also works on
// vectors along one dimension. Composites, except for the distances that fused_distance.h computes.

#include "dispatch/function_op.h"

namespace eg {

struct Normalize {
  static constexpr op::Doc doc{"normalize",
                               "Vectors along dim divided by their p-norm, or by eps if larger."};
  static constexpr std::array args{Arg{"input"}, Arg{"p", "2"}, Arg{"dim", "1"},
                                   Arg{"eps", "1e-12"}};
  static constexpr std::array<std::string_view, 3> samples{"T([3, 4])", "T([2, 3, 2]), 3, -1",
                                                           "T([4]), 1, 0, 20"};
  static Tensor call(const Tensor& input, double p = 2, const Dims& dim = {1}, double eps = 1e-12);
};

struct CosineSimilarity {
  static constexpr op::Doc doc{"cosine_similarity",
                               "The cosine of the angle between vectors along dim."};
  static constexpr std::array args{Arg{"x1"}, Arg{"x2"}, Arg{"dim", "1"}, Arg{"eps", "1e-8"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 4]), T([3, 4])", "T([2, 3, 2]), T([3, 1]), -2", "T([4]), T([4]), 0"};
  static Tensor call(const Tensor& x1, const Tensor& x2, std::int64_t dim = 1, double eps = 1e-8);
};

struct PairwiseDistance {
  static constexpr op::Doc doc{"pairwise_distance",
                               "The p-norm of x1 - x2 + eps along the last dimension."};
  static constexpr std::array args{Arg{"x1"}, Arg{"x2"}, Arg{"p", "2"}, Arg{"eps", "1e-6"},
                                   Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 4]), T([3, 4])", "T([3, 4]), T([4]), 1, 1e-6, true", "T([4]), T([4]), 3"};
  static Tensor call(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                     bool keepdim = false);
};

struct Cdist {
  static constexpr op::Doc doc{"cdist", "The p-norms between the rows of x1 and those of x2."};
  static constexpr std::array args{Arg{"x1"}, Arg{"x2"}, Arg{"p", "2"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4]), T([2, 4])",
                                                           "T([2, 3, 4]), T([2, 4]), 1"};
  static Tensor call(const Tensor& x1, const Tensor& x2, double p = 2);
};

struct Glu {
  static constexpr op::Doc doc{"glu",
                               "The first half along dim times the sigmoid of the second half."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "-1"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4])", "T([4, 3]), 0"};
  static Tensor call(const Tensor& input, std::int64_t dim = -1);
};

using DistanceOps = TypeList<Normalize, CosineSimilarity, PairwiseDistance, Cdist, Glu>;

}  // namespace eg
