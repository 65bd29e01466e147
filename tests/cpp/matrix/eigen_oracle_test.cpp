// Decompositions of matrices that are hard to decompose, in every dtype: residuals and
// orthogonality computed by Eigen in long double, and its singular values and eigenvalues.

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/linalg/eigen.h"
// Eigen's settings come first.
#include <Eigen/SVD>

#include "backend/cpu/linalg/balance.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/linalg/decomposition.h"
#include "ops/linalg/least_squares.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/triangular.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::values;
using Wide = long double;
using Number = std::complex<Wide>;
using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Wide, Eigen::Dynamic, 1>;

constexpr int kSize = 14;

double disorder(int i, int j) { return (i * 7919 + j * 104729 + i * j * 31) % 1009 / 1009.0 - 0.5; }

Matrix generated(const std::function<double(int, int)>& element, int rows = kSize,
                 int columns = kSize) {
  Matrix result(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) result(i, j) = element(i, j);
  return result;
}

Matrix random(int rows = kSize, int columns = kSize) { return generated(disorder, rows, columns); }
Matrix orthogonal() { return Eigen::HouseholderQR<Matrix>(random()).householderQ(); }
Matrix diagonal(const std::function<double(int)>& element) {
  return generated([&](int i, int j) { return i == j ? element(i) : 0; });
}
/// Q diag Qᴴ.
Matrix with_eigenvalues(const std::function<double(int)>& element) {
  return orthogonal() * diagonal(element) * orthogonal().adjoint();
}

struct Case {
  std::string name;
  Matrix matrix;
};

double power(double base, int exponent) { return std::pow(base, exponent); }

/// Matrices with which programs for decompositions are tested, of order one.
std::vector<Case> cases() {
  const auto from = [](const std::function<double(int, int)>& element) {
    return generated(element);
  };
  const double s = std::sin(1.2);
  const double c = std::cos(1.2);
  const Matrix lower = from([](int i, int j) {
    return i == j ? 1 : i > j ? 3 * disorder(i, j) : 0;
  });
  const Matrix upper = from([](int i, int j) {
    return i == j ? 1 : i < j ? 3 * disorder(j, i) : 0;
  });
  return {
      {"random", random()},
      {"rows that fall", from([](int i, int j) { return disorder(i, j) * power(0.1, i); })},
      {"rows that fall to nothing",
       from([](int i, int j) { return disorder(i, j) * power(1e-26, i); })},
      {"columns that fall", from([](int i, int j) { return disorder(i, j) * power(0.1, j); })},
      {"columns that rise",
       from([](int i, int j) { return disorder(i, j) * power(0.01, kSize - 1 - j); })},
      {"powers of x", from([](int i, int j) { return power(1e-3 * (i + 1), j); })},
      {"both sides fall", from([](int i, int j) { return disorder(i, j) * power(0.1, i + j); })},
      {"defective", from([](int i, int j) { return i == j       ? 0.5
                                                   : i + 1 == j ? 1
                                                                : 0; })},
      {"clustered", with_eigenvalues([](int i) { return i < 7 ? 1 + i * 1e-14 : 0.5; })},
      {"nearly singular", with_eigenvalues([](int i) { return i == 0 ? 1e-17 : 1 + i; })},
      {"of rank 3", with_eigenvalues([](int i) { return i < 3 ? 1 + i : 0; })},
      {"Kahan", from([&](int i, int j) {
         return i == j ? power(s, i) : i < j ? -c * power(s, i) : 0;
       })},
      {"Hilbert", from([](int i, int j) { return 1.0 / (i + j + 1); })},
      {"Wilkinson", from([](int i, int j) {
         return i == j ? std::abs(i - (kSize - 1) / 2.0) : std::abs(i - j) == 1 ? 1 : 0;
       })},
      {"growth", from([](int i, int j) { return i == j || j == kSize - 1 ? 1
                                                : i > j                  ? -1
                                                                         : 0; })},
      {"Frank", from([](int i, int j) { return j + 1 < i ? 0 : kSize - std::max(i, j); })},
      {"Grcar", from([](int i, int j) { return i == j + 1             ? -1
                                               : j >= i && j <= i + 3 ? 1
                                                                      : 0; })},
      {"Golub", lower * upper},
      {"covariance",
       from([](int i, int j) { return power(0.01, i) * power(0.01, j) * (i == j ? 1 : 0.3); })},
      {"of any magnitude", from([](int i, int j) {
         return disorder(i, j) * std::exp(300 * std::min(disorder(j + 3, 5 * i), 0.0));
       })},
      {"one beside almost zeros",
       from([](int i, int j) { return i == 0 && j == 0 ? 1 : 1e-150 * disorder(i, j); })},
      {"identity", diagonal([](int) { return 1; })},
      {"zero", diagonal([](int) { return 0; })},
  };
}

Wide epsilon(DType dtype) {
  return real_dtype(dtype) == DType::kFloat32 ? std::numeric_limits<float>::epsilon()
                                              : std::numeric_limits<double>::epsilon();
}

/// Rounding errors are not below those of the least normal number.
Wide least(DType dtype) {
  return real_dtype(dtype) == DType::kFloat32 ? std::numeric_limits<float>::min()
                                              : std::numeric_limits<double>::min();
}

/// The matrix in a dtype; real ones have the real parts.
Tensor to_tensor(const Matrix& m, DType dtype) {
  const Tensor parts = testing::generated<double>({m.rows(), m.cols(), 2}, [&](std::int64_t i) {
    const Number number = m(i / 2 / m.cols(), i / 2 % m.cols());
    return static_cast<double>(i % 2 == 0 ? number.real() : number.imag());
  });
  const Tensor exact = ViewAsComplex::call(parts);
  return ToDType::call(is_complex(dtype) ? exact : Real::call(exact), dtype);
}

Matrix to_matrix(const Tensor& t) {
  const std::vector<double> numbers = values(t);
  const int columns = static_cast<int>(t.size(-1));
  const int rows = t.ndim() > 1 ? static_cast<int>(t.size(-2)) : 1;
  Matrix result(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const auto at = static_cast<std::size_t>(i * columns + j);
      result(i, j) = is_complex(t.dtype()) ? Number(numbers[2 * at], numbers[2 * at + 1])
                                           : Number(numbers[at]);
    }
  }
  return result;
}

/// The largest error of orthogonality of columns.
Wide skewness(const Matrix& q) {
  return (q.adjoint() * q - Matrix::Identity(q.cols(), q.cols())).cwiseAbs().maxCoeff();
}

Wide greatest(const Matrix& m) { return m.cwiseAbs().maxCoeff(); }
Matrix hermitian(const Matrix& m) { return (m + m.adjoint()) / Number(2); }

/// Calls check(matrix, tensor, rounding) for `change` of each case in each dtype at several scales,
/// as the dtype represents it; `rounding` is a few rounding errors, added up over a row.
void for_all(const std::function<Matrix(const Matrix&)>& change,
             const std::function<void(const Matrix&, const Tensor&, Wide)>& check) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128}) {
    const Wide far = real_dtype(dtype) == DType::kFloat32 ? 1e30L : 1e200L;
    for (const auto& [name, matrix] : cases()) {
      const Matrix turned = is_complex(dtype)
                                ? Matrix(matrix + Number(0, 1) * matrix.cwiseProduct(random()))
                                : matrix;
      for (const Wide scale : {Wide{1}, far, 1 / far}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + ", " + name + " times 1e" +
                     std::to_string(std::lround(std::log10(scale))));
        const Tensor t = to_tensor(change(turned) * scale, dtype);
        check(to_matrix(t), t, 4 * kSize * epsilon(dtype));
      }
    }
  }
}

Matrix unchanged(const Matrix& m) { return m; }

// Every column has an error of its own, however small it is beside others.
TEST(EigenOracle, OfQr) {
  const auto check = [](const Matrix& a, const Tensor& t, Wide rounding) {
    for (const QrMode mode : {QrMode::kReduced, QrMode::kComplete}) {
      const TensorList parts = Qr::call(t, mode);
      const Matrix q = to_matrix(parts[0]);
      const Matrix error = q * to_matrix(parts[1]) - a;
      EXPECT_LE(skewness(q), rounding);
      for (int j = 0; j < a.cols(); ++j)
        EXPECT_LE(error.col(j).norm(), rounding * (a.col(j).norm() + least(t.dtype()))) << j;
    }
  };
  for_all(unchanged, check);
  for_all([](const Matrix& m) { return m.leftCols(5); }, check);
  for_all([](const Matrix& m) { return m.topRows(5); }, check);
}

TEST(EigenOracle, OfSvd) {
  const auto check = [](const Matrix& a, const Tensor& t, Wide rounding) {
    const RealVector exact = Eigen::JacobiSVD<Matrix>(a).singularValues();
    const Wide limit = rounding * exact(0);
    const Matrix alone = to_matrix(Svdvals::call(t));
    for (const bool full : {false, true}) {
      const TensorList parts = Svd::call(t, full);
      const Matrix u = to_matrix(parts[0]);
      const Matrix s = to_matrix(parts[1]);
      const Matrix vh = to_matrix(parts[2]);
      EXPECT_EQ(u.cols(), full ? a.rows() : exact.size());
      EXPECT_EQ(vh.rows(), full ? a.cols() : exact.size());
      EXPECT_LE(skewness(u), rounding);
      EXPECT_LE(skewness(vh.adjoint()), rounding);
      const auto reduced = u.leftCols(exact.size()) * s.row(0).asDiagonal();
      EXPECT_LE(greatest(reduced * vh.topRows(exact.size()) - a), limit);
      EXPECT_LE((s.row(0).transpose() - exact).cwiseAbs().maxCoeff(), limit);
      EXPECT_EQ(s, alone);
    }
  };
  for_all(unchanged, check);
  for_all([](const Matrix& m) { return m.leftCols(5); }, check);
  for_all([](const Matrix& m) { return m.topRows(5); }, check);
}

TEST(EigenOracle, OfEigh) {
  for_all(hermitian, [](const Matrix& a, const Tensor& t, Wide rounding) {
    const TensorList parts = Eigh::call(t);
    const Matrix l = to_matrix(parts[0]);
    const Matrix v = to_matrix(parts[1]);
    const RealVector exact = Eigen::SelfAdjointEigenSolver<Matrix>(a).eigenvalues();
    const Wide limit = rounding * exact.cwiseAbs().maxCoeff();
    EXPECT_LE(skewness(v), rounding);
    EXPECT_LE(greatest(v * l.row(0).asDiagonal() - a * v), limit);
    EXPECT_LE((l.row(0).transpose() - exact).cwiseAbs().maxCoeff(), limit);
  });
}

// Errors are those of the balanced matrix; those of an eigenvalue are as many times larger as its
// condition number says.
TEST(EigenOracle, OfEig) {
  for_all(unchanged, [](const Matrix& a, const Tensor& t, Wide rounding) {
    const TensorList parts = Eig::call(t);
    const Matrix l = to_matrix(parts[0]);
    std::vector<double> magnitudes;
    for (int i = 0; i < kSize; ++i)
      for (int j = 0; j < kSize; ++j) magnitudes.push_back(static_cast<double>(std::abs(a(i, j))));
    const cpu::Balance balance = cpu::balance_of(kSize, magnitudes, 500);
    Matrix scales = Matrix::Zero(kSize, kSize);
    for (int i = 0; i < kSize; ++i) {
      const auto at = static_cast<std::size_t>(i);
      scales(balance.order[at], balance.order[at]) = balance.scales[at];
    }
    const Matrix balanced = scales.inverse() * a * scales;
    const Matrix v = (scales.inverse() * to_matrix(parts[1])).colwise().normalized();
    const Wide limit = rounding * balanced.norm();
    EXPECT_LE(greatest(balanced * v - v * l.row(0).asDiagonal()), limit);
    for (int j = 0; j < kSize; ++j)
      EXPECT_NEAR(static_cast<double>(to_matrix(parts[1]).col(j).norm()), 1, rounding);

    const Eigen::ComplexEigenSolver<Matrix> exact(balanced);
    const Matrix left = exact.eigenvectors().inverse();
    for (int i = 0; i < kSize; ++i) {
      const Wide condition = left.row(i).norm() * exact.eigenvectors().col(i).norm();
      if (!(condition < 1e6L)) continue;
      const Wide gap = (l.row(0).array() - exact.eigenvalues()(i)).abs().minCoeff();
      EXPECT_LE(gap, limit * condition) << exact.eigenvalues()(i);
    }
    const Tensor alone = Eigvals::call(t);
    for (int i = 0; i < kSize; ++i) {
      const Wide condition = left.row(i).norm() * exact.eigenvectors().col(i).norm();
      if (!(condition < 1e6L)) continue;
      const Wide gap = (to_matrix(alone).row(0).array() - exact.eigenvalues()(i)).abs().minCoeff();
      EXPECT_LE(gap, limit * condition);
    }
    if (is_complex(t.dtype())) return;
    for (int i = 0; i < kSize; ++i) {
      const bool has_pair =
          (l.row(0).array() == std::conj(l(0, i))).any() &&
          (l.row(0).array() == l(0, i)).count() == (l.row(0).array() == std::conj(l(0, i))).count();
      EXPECT_TRUE(has_pair) << l(0, i);
    }
  });
}

TEST(EigenOracle, OfLuAndSolve) {
  for_all(unchanged, [](const Matrix& a, const Tensor& t, Wide rounding) {
    const TensorList parts = Lu::call(t);
    const Matrix p = to_matrix(parts[0]);
    const Matrix l = to_matrix(parts[1]);
    const Matrix u = to_matrix(parts[2]);
    const Matrix terms = p * (l.cwiseAbs() * u.cwiseAbs()).cast<Number>();
    // Quotients that are not normal numbers are less exact.
    const Wide underflow = least(t.dtype()) * (1 + greatest(u));
    EXPECT_TRUE(
        ((p * l * u - a).cwiseAbs().array() <= rounding * (terms.cwiseAbs().array() + underflow))
            .all());
    if (u.diagonal().cwiseAbs().minCoeff() == 0) return;
    const Matrix b = a * random(kSize, 2);
    const Tensor right = to_tensor(b, t.dtype());
    const Matrix x = to_matrix(Solve::call(t, right));
    for (int j = 0; j < 2; ++j)
      EXPECT_LE((a * x - to_matrix(right)).col(j).norm(),
                rounding * (terms.norm() * x.col(j).norm() + least(t.dtype())));
  });
}

TEST(EigenOracle, OfCholesky) {
  const auto definite = [](const Matrix& m) {
    return Matrix(m * m.adjoint() +
                  0.1L * (m * m.adjoint()).diagonal().asDiagonal().toDenseMatrix() +
                  1e-3L * Matrix::Identity(kSize, kSize));
  };
  for_all(definite, [](const Matrix& a, const Tensor& t, Wide rounding) {
    const Matrix l = to_matrix(Cholesky::call(t));
    const Matrix roots = a.diagonal().cwiseSqrt();
    EXPECT_TRUE(((l * l.adjoint() - a).cwiseAbs().array() <=
                 rounding * (roots * roots.transpose()).cwiseAbs().array())
                    .all());
  });
}

TEST(EigenOracle, OfLstsq) {
  for_all(
      [](const Matrix& m) { return m.leftCols(5); },
      [](const Matrix& a, const Tensor& t, Wide rounding) {
        const Matrix b = random(kSize, 2) * greatest(a);
        const Tensor right = to_tensor(b, t.dtype());
        const TensorList parts = Lstsq::call(t, right);
        const Matrix x = to_matrix(parts[0]);
        const TensorList by_values = Lstsq::call(t, right, {}, LstsqDriver::kGelsd);
        EXPECT_EQ(values(parts[2]), values(by_values[2]));
        const Matrix best = a.householderQr().householderQ() * Matrix::Identity(kSize, 5);
        for (int j = 0; j < 2; ++j) {
          const Matrix goal = to_matrix(right).col(j);
          // The projection onto more columns than those that count leaves less.
          const Wide least = (goal - best * (best.adjoint() * goal)).norm();
          EXPECT_LE(least, (a * x.col(j) - goal).norm() * (1 + rounding) + rounding * goal.norm());
          const Wide normal = (a.adjoint() * (a * x.col(j) - goal)).norm();
          EXPECT_LE(normal, 10 * rounding * a.norm() * (a.norm() * x.col(j).norm() + goal.norm()));
        }
      });
}

}  // namespace
}  // namespace eg
