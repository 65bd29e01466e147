#pragma once

// Orthogonal decompositions, as torch.linalg has them, and what follows from them: pseudo-inverses
// and least squares. Matrices are the last two dims.
//
// A decomposition is not unique: columns of Q, U and V may change their sign together with what
// they are multiplied with, and more than that where values repeat. Gradients of functions that
// depend on such a choice mean nothing; where singular or eigenvalues repeat, those of U, V and the
// eigenvectors are not finite.

#include "dispatch/function_op.h"

namespace eg {

/// What qr() gives: min(m, n) columns of Q, all m, or R alone.
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
      "[U, S, Vh] with A = U diag(S) Vh: U and V have orthonormal columns, and S falls. With "
      "full_matrices U and Vh are square."};
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
  static constexpr op::Doc doc{"svdvals", "The singular values of A, falling."};
  static constexpr std::array args{Arg{"A"}};
  static constexpr std::array<std::string_view, 2> samples{"T([3, 4])", "T([2, 3, 2])"};
  static Tensor call(const Tensor& a);
};

/// The triangle that stands for a symmetric matrix.
enum class Triangle : std::uint8_t { kLower, kUpper };
constexpr std::array<std::string_view, 2> enum_names(Triangle) { return {"L", "U"}; }

struct Eigh {
  static constexpr op::Doc doc{
      "eigh",
      "[L, V] with A V = V diag(L) for symmetric A, of which the triangle UPLO is read: "
      "eigenvalues that rise and orthonormal eigenvectors."};
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
  static constexpr op::Doc doc{"eigvalsh", "The eigenvalues of symmetric matrices, rising."};
  static constexpr std::array args{Arg{"A"}, Arg{"UPLO", "'L'"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 1, 1])"};
  static Tensor call(const Tensor& a, Triangle uplo = Triangle::kLower);
};

struct Pinv {
  static constexpr op::Doc doc{"pinv",
                               "The pseudo-inverse: singular values of at most max(atol, rtol * "
                               "the greatest) count as zero. "
                               "hermitian: A is symmetric."};
  static constexpr std::string_view node_name = "LinalgPinvBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"atol", "null"}, Arg{"rtol", "null"},
                                   Arg{"hermitian", "false"}};
  static constexpr std::array<std::string_view, 4> samples{"T([3, 2])", "T([2, 2, 3])", "T([3, 3])",
                                                           "T([3, 3]), null, null, true"};
  static Tensor call(const Tensor& a, std::optional<double> atol = {},
                     std::optional<double> rtol = {}, bool hermitian = false);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Pinv>& b);
};

/// LAPACK's ways to solve least squares. They differ in what they report.
enum class LstsqDriver : std::uint8_t { kGelsy, kGels, kGelsd, kGelss };
constexpr std::array<std::string_view, 4> enum_names(LstsqDriver) {
  return {"gelsy", "gels", "gelsd", "gelss"};
}

struct Lstsq {
  static constexpr op::Doc doc{
      "lstsq",
      "[solution, residuals, rank, singularValues]: the X of least norm that makes A X - B least. "
      "Squared residuals come from a tall A of full rank and drivers other than gelsy, singular "
      "values from gelsd and gelss, and the rank from all but gels."};
  static constexpr std::array args{Arg{"A"}, Arg{"B"}, Arg{"rcond", "null"},
                                   Arg{"driver", "'gelsy'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 2]), T([4, 3]), null, 'gels'", "T([2, 2, 3]), T([2, 2])", "T([3, 3]), T([3, 1])"};
  static constexpr std::array<std::string_view, 4> results{"solution", "residuals", "rank",
                                                           "singularValues"};
  static TensorList call(const Tensor& a, const Tensor& b, std::optional<double> rcond = {},
                         LstsqDriver driver = LstsqDriver::kGelsy);
};

using DecompositionOps = TypeList<Qr, Svd, Svdvals, Eigh, Eigvalsh, Pinv, Lstsq>;

}  // namespace eg
