#pragma once

// Orthogonal decompositions, with the semantics of torch.linalg. Matrices are the last two dims.
//
// A decomposition is not unique: columns of Q, U and V may change sign together with the factors
// that they are multiplied by, and where values repeat there are more choices. Gradients of
// functions that depend on such a choice are meaningless; where singular values or eigenvalues
// repeat, the gradients of U, V and the eigenvectors are not finite. For complex matrices the
// columns may be multiplied by any number of magnitude 1; those of Q are chosen so that the
// diagonal of R is real.

#include "dispatch/function_op.h"

namespace eg {

/// What qr() returns: min(m, n) columns of Q, all m columns, or only R.
enum class QrMode : std::uint8_t { kReduced, kComplete, kR };
constexpr std::array<std::string_view, 3> enum_names(QrMode) {
  return {"reduced", "complete", "r"};
}

struct Qr {
  static constexpr op::Doc doc{
      "qr", "[Q, R] with A = Q R: Q has orthonormal columns and R is upper triangular."};
  static constexpr bool spreads_nan = true;
  static constexpr std::string_view node_name = "LinalgQrBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"mode", "'reduced'"}};
  static constexpr std::array<std::string_view, 5> samples{"T([4, 3])", "T([3, 3]), 'complete'",
                                                           "T([2, 2, 4])", "T([2, 3, 2])",
                                                           "T([2, 3]), 'complete'"};
  static constexpr std::array<std::string_view, 2> results{"Q", "R"};
  static TensorList call(const Tensor& a, QrMode mode = QrMode::kReduced);

  struct Attrs {
    QrMode mode;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"Q", "R"};
  static GradList backward(const Backward<Qr>& b);
};

struct Svd {
  static constexpr op::Doc doc{
      "svd",
      "[U, S, Vh] with A = U diag(S) Vh: U and V have orthonormal columns, and S descends. With "
      "fullMatrices U and Vh are square."};
  static constexpr std::string_view node_name = "LinalgSvdBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"full_matrices", "true"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 3])", "T([4, 2]), false", "T([2, 2, 3]), false", "T([2, 3, 2]), false"};
  static constexpr std::array<std::string_view, 3> results{"U", "S", "Vh"};
  static TensorList call(const Tensor& a, bool full_matrices = true);

  struct Attrs {};
  static constexpr std::array<std::string_view, 3> saved_names{"U", "S", "Vh"};
  static GradList backward(const Backward<Svd>& b);
};

struct Svdvals {
  static constexpr op::Doc doc{"svdvals", "The singular values of A in descending order."};
  static constexpr std::array args{Arg{"A"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4])", "T([2, 3, 2])"};
  static Tensor call(const Tensor& a);
};

/// The triangle of a symmetric matrix that is read.
enum class Triangle : std::uint8_t { kLower, kUpper };
constexpr std::array<std::string_view, 2> enum_names(Triangle) { return {"L", "U"}; }

struct Eigh {
  static constexpr op::Doc doc{
      "eigh",
      "[L, V] with A V = V diag(L) for a Hermitian A, of which only the triangle UPLO is read: "
      "ascending eigenvalues and orthonormal eigenvectors."};
  static constexpr std::string_view node_name = "LinalgEighBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"UPLO", "'L'"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1])"};
  static constexpr std::array<std::string_view, 2> results{"L", "V"};
  static TensorList call(const Tensor& a, Triangle uplo = Triangle::kLower);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"eigenvalues", "eigenvectors"};
  static GradList backward(const Backward<Eigh>& b);
};

struct Eigvalsh {
  static constexpr op::Doc doc{"eigvalsh",
                               "The eigenvalues of Hermitian matrices in ascending order."};
  static constexpr std::array args{Arg{"A"}, Arg{"UPLO", "'L'"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1])"};
  static Tensor call(const Tensor& a, Triangle uplo = Triangle::kLower);
};

struct Eig {
  static constexpr op::Doc doc{"eig",
                               "[L, V] with A V = V diag(L) for any square A: eigenvalues in no "
                               "particular order and eigenvectors of length 1, complex even for "
                               "real A."};
  static constexpr bool spreads_nan = true;
  static constexpr std::string_view node_name = "LinalgEigBackward0";
  static constexpr std::array args{Arg{"A"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1])"};
  static constexpr std::array<std::string_view, 2> results{"L", "V"};
  static TensorList call(const Tensor& a);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"eigenvalues", "eigenvectors"};
  static GradList backward(const Backward<Eig>& b);
};

struct Eigvals {
  static constexpr op::Doc doc{"eigvals",
                               "The eigenvalues of square matrices, in no particular order."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"A"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1])"};
  static Tensor call(const Tensor& a);
};

struct BalanceRatios {
  static constexpr op::Doc doc{
      "balance_ratios",
      "Powers of two to multiply the elements of A by: the matrix diag(d)⁻¹ A diag(d), whose rows "
      "and columns have similar norms."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"A"}};
  static Tensor call(const Tensor& a);
};

using DecompositionOps = TypeList<Qr, Svd, Svdvals, Eigh, Eigvalsh, Eig, Eigvals, BalanceRatios>;

}  // namespace eg
