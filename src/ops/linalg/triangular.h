#pragma once

// Triangular matrices, with the semantics of torch.linalg: solving with them, and LU factors.
// Matrices are the last two dims.

#include "dispatch/function_op.h"

namespace eg {

struct SolveTriangular {
  static constexpr op::Doc doc{
      "solve_triangular",
      "The X with A X = B, or with X A = B if left is false, for a triangular A. "
      "The other triangle is not read; with unitriangular, the diagonal "
      "counts as 1 and is not read either."};
  static constexpr std::string_view node_name = "LinalgSolveTriangularBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"B"}, Arg{"upper"}, Arg{"left", "true"},
                                   Arg{"unitriangular", "false"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 3], 0.5, 2), T([3, 2]), true", "T([2, 2, 2], 0.5, 2), T([2, 1]), false",
      "T([3, 3], 0.5, 2), T([2, 3]), false, false", "T([3, 3]), T([2, 3, 2]), true, true, true"};
  static Tensor call(const Tensor& a, const Tensor& b, bool upper, bool left = true,
                     bool unitriangular = false);

  struct Attrs {
    bool upper;
    bool unit;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<SolveTriangular>& b);
};

struct LuFactor {
  static constexpr op::Doc doc{
      "lu_factor",
      "[LU, pivots]: the LU factors of A with row exchanges in one matrix, "
      "L below the diagonal, and the exchanged rows, counted from 1."};
  static constexpr std::string_view node_name = "LinalgLuFactorExBackward0";
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"A"}, Arg{"pivot", "true"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 3])", "T([2, 3, 2])"};
  static constexpr std::array<std::string_view, 2> results{"LU", "pivots"};
  static TensorList call(const Tensor& a, bool pivot = true);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"LU", "P"};
  static GradList backward(const Backward<LuFactor>& b);
};

struct Lu {
  static constexpr op::Doc doc{
      "lu",
      "[P, L, U] with A = P L U: a permutation and two triangular matrices; L has ones on its "
      "diagonal."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args = LuFactor::args;
  static constexpr std::array<std::string_view, 4> samples{"T([3, 3])", "T([2, 2, 2])", "T([2, 3])",
                                                           "T([3, 2])"};
  static constexpr std::array<std::string_view, 3> results{"P", "L", "U"};
  static TensorList call(const Tensor& a, bool pivot = true);
};

using TriangularOps = TypeList<SolveTriangular, LuFactor, Lu>;

}  // namespace eg
