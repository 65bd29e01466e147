#pragma once

// Linear algebra of square matrices and batches of them, with the semantics of torch.linalg.
// Matrices are the last two dims.
//
// Nodes have PyTorch's names, even where these differ from the names of the functions.
//
// Determinants and inverses are computed from one LU factorisation with row exchanges. Gradients
// are written with these same ops, so derivatives of any order work.

#include "dispatch/function_op.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/least_squares.h"
#include "ops/linalg/triangular.h"
#include "ops/matrix/added_product.h"

namespace eg {

struct Det {
  static constexpr op::Doc doc{"det", "Determinant of every square matrix."};
  static constexpr std::string_view node_name = "LinalgDetBackward0";
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 3> samples{"T([3, 3])", "T([2, 2, 2])",
                                                           "T([1, 1])"};
  static Tensor call(const Tensor& input);

  struct Attrs {
    bool is_singular;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"A", "result"};
  static GradList backward(const Backward<Det>& b);
};

struct Slogdet {
  static constexpr op::Doc doc{
      "slogdet",
      "[sign, logabsdet]: the determinant as sign, of complex matrices a number of magnitude 1, "
      "and logarithm of its magnitude."};
  static constexpr std::string_view node_name = "LinalgSlogdetBackward0";
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 3])", "T([2, 2, 2])"};
  static constexpr std::array<std::string_view, 2> results{"sign", "logabsdet"};
  static TensorList call(const Tensor& input);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"A", "sign"};
  static GradList backward(const Backward<Slogdet>& b);
};

struct Inverse {
  static constexpr op::Doc doc{"inverse", "Inverse of every square matrix."};
  static constexpr std::string_view node_name = "LinalgInvExBackward0";
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 3])", "T([2, 2, 2])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static constexpr std::array<std::string_view, 1> saved_names{"inverse"};
  static GradList backward(const Backward<Inverse>& b);
};

struct Cholesky {
  static constexpr op::Doc doc{
      "cholesky",
      "The lower triangular L with input = L Lᴴ for positive-definite matrices; with upper, Lᴴ."};
  static constexpr std::array args{Arg{"input"}, Arg{"upper", "false"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1], 1, 2)"};
  static Tensor call(const Tensor& input, bool upper = false);

  struct Attrs {};
  static constexpr std::array<std::string_view, 1> saved_names{"L"};
  static GradList backward(const Backward<Cholesky>& b);
};

struct Solve {
  static constexpr op::Doc doc{
      "solve", "The X with A X = B, or with X A = B if left is false; B is a matrix or a vector."};
  static constexpr std::string_view node_name = "LinalgSolveExBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"B"}, Arg{"left", "true"}};
  static constexpr std::array<std::string_view, 5> samples{
      "T([3, 3]), T([3, 2])", "T([3, 3]), T([3])", "T([2, 2, 2]), T([2, 2])",
      "T([2, 2]), T([3, 2, 1])", "T([3, 3]), T([2, 3]), false"};
  static Tensor call(const Tensor& a, const Tensor& b, bool left = true);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"A", "result"};
  static GradList backward(const Backward<Solve>& b);
};

struct Kron {
  static constexpr op::Doc doc{
      "kron", "Kronecker product: the blocks are other times each element of input."};
  static constexpr std::array args{Arg{"input"}, Arg{"other"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 2]), T([2, 3])",
                                                           "T([2]), T([3, 1, 2])", "T([]), T([2])"};
  static Tensor call(const Tensor& input, const Tensor& other);
};

struct Cross {
  static constexpr op::Doc doc{"cross", "Cross product of the vectors of size 3 along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"other"}, Arg{"dim", "-1"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([2, 3]), T([2, 3])", "T([3, 2]), T([3, 1]), 0", "T([3]), T([3])"};
  static Tensor call(const Tensor& input, const Tensor& other, std::int64_t dim = -1);
};

using LinalgOps = Concat<TypeList<Det, Slogdet, Inverse, Cholesky, Solve, Kron, Cross>,
                         DecompositionOps, TriangularOps, LeastSquaresOps, AddedProductOps>;

}  // namespace eg
