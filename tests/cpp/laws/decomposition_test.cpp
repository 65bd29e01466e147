// Orthogonal decompositions, pseudo-inverses and least squares. Results that are not unique are
// checked by the equations they must satisfy.

#include "ops/linalg/decomposition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/linalg/least_squares.h"
#include "ops/linalg/linalg.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/rearrange.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::gradcheck;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

void expect_same(const Tensor& actual, const Tensor& expected, double tolerance = 1e-12) {
  EXPECT_EQ(actual.shape(), expected.shape());
  expect_near(values(actual), values(expected), tolerance);
}

Tensor random(const Shape& shape, unsigned seed) { return detach(random_leaf(shape, seed)); }

// A number for each column.
Tensor scaled(const Tensor& a, const Tensor& s) {
  return (Var(a) * Unsqueeze::call(s, -2)).tensor();
}

Tensor eye(std::int64_t n) { return Diag::call(testing::full({n}, 1, DType::kFloat64)); }

void expect_orthonormal_columns(const Tensor& q) {
  const Tensor gram = matmul(transposed(q), q);
  const Var off = Var(gram) - eye(q.size(-1));
  for (const double x : values(off.tensor())) EXPECT_NEAR(x, 0, 1e-12);
}

// Symmetric, whatever x is, with eigenvalues that are far apart.
Tensor symmetric(const Tensor& x) {
  const std::int64_t n = x.size(-1);
  Values places(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = 5 * static_cast<double>(i);
  const Tensor spread = Diag::call(tensor<double>(places, {n}));
  return (Var(x) + transposed(x) + spread).tensor();
}

const std::vector<Shape> kShapes{{3, 3},  {5, 3}, {3, 5}, {2, 4, 2}, {2, 2, 4}, {1, 1},
                                 {60, 7}, {8, 8}, {9, 6}, {17, 18},  {33, 13},  {6, 30}};

TEST(Qr, ReconstructsWithOrthonormalColumns) {
  for (const Shape& shape : kShapes) {
    const Tensor a = random(shape, 1);
    const TensorList qr = Qr::call(a);
    expect_same(matmul(qr[0], qr[1]), a);
    expect_orthonormal_columns(qr[0]);
    expect_same(Triu::call(qr[1]), qr[1], 0);
  }
}

TEST(Qr, CompleteHasASquareQ) {
  const Tensor a = random({5, 3}, 2);
  const TensorList qr = Qr::call(a, QrMode::kComplete);
  EXPECT_EQ(qr[0].shape(), (Shape{5, 5}));
  EXPECT_EQ(qr[1].shape(), (Shape{5, 3}));
  expect_same(matmul(qr[0], qr[1]), a);
  expect_orthonormal_columns(qr[0]);
}

TEST(Qr, RAloneIsTheSameR) {
  for (const Shape& shape : kShapes) {
    const Tensor a = random(shape, 3);
    const TensorList r = Qr::call(a, QrMode::kR);
    EXPECT_EQ(r[0].shape(), Shape{0});
    expect_same(r[1], Qr::call(a)[1]);
  }
}

// Reflections that make the first column (3, 4) become (-5, 0).
TEST(Qr, HasTheSignsOfHouseholderReflections) {
  const TensorList qr = Qr::call(tensor({3, 1, 4, 2}, {2, 2}));
  expect_near(qr[0], {-0.6, -0.8, -0.8, 0.6});
  expect_near(qr[1], {-5, -2.2, 0, 0.4});
  EXPECT_EQ(qr[0].dtype(), DType::kFloat32);
  // There is no reflection where there is nothing to eliminate.
  expect_near(Qr::call(tensor({2, 1, 0, 3}, {2, 2}))[1], {2, 1, 0, 3});
}

TEST(Qr, OfNothing) {
  const TensorList tall = Qr::call(tensor({}, {3, 0}), QrMode::kComplete);
  EXPECT_EQ(values(tall[0]), (Values{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(tall[1].shape(), (Shape{3, 0}));
  EXPECT_EQ(Qr::call(tensor({}, {0, 3}))[1].shape(), (Shape{0, 3}));
  EXPECT_EQ(Qr::call(tensor({}, {0, 3, 2}))[0].shape(), (Shape{0, 3, 2}));
  const Tensor a = leaf<double>({}, {3, 0});
  backward({sum(Qr::call(a)[0])});
  EXPECT_EQ(grad(a).shape(), (Shape{3, 0}));
}

TEST(Qr, IsNotDifferentiableWhereQIsNotDetermined) {
  const Tensor a = random_leaf({3, 2}, 4);
  expect_error(ErrorCode::kNotDifferentiable, "mode 'r' is not differentiable",
               [&] { backward({sum(Qr::call(a, QrMode::kR)[1])}); });
  expect_error(ErrorCode::kNotDifferentiable, "mode 'complete' is not differentiable",
               [&] { backward({sum(Qr::call(a, QrMode::kComplete)[0])}); });
}

TEST(Qr, ReportsWhatIsNoMatrix) {
  expect_error(ErrorCode::kShapeMismatch, "[qr] A must have at least 2 dimensions, got 1.",
               [] { Qr::call(tensor({1, 2})); });
  expect_error(ErrorCode::kDtypeMismatch,
               "[qr] expected floating-point or complex matrices, got int64",
               [] { Qr::call(tensor<std::int64_t>({1}, {1, 1})); });
}

// Columns of no more than rounding errors of the others are columns, too.
TEST(Qr, SpansColumnsOfEveryMagnitude) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kComplex64}) {
    const double tiny = dtype == DType::kFloat64 ? 1e-200 : 1e-18;
    const Tensor a = ToDType::call(
        tensor<double>({1, 2 * tiny, 3 / tiny, 1, tiny, 1 / tiny, 1, -tiny, 4 / tiny}, {3, 3}),
        dtype);
    const Tensor q = Qr::call(a)[0];
    // The first column is (1, 1, 1), and the second one has a part orthogonal to it.
    const double third = std::sqrt(1.0 / 3);
    const Values second{4.0 / 3, 1.0 / 3, -5.0 / 3};
    const Values real = values(is_complex(dtype) ? Real::call(q) : q);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(std::abs(real[3 * i]), third, 1e-6);
      EXPECT_NEAR(real[3 * i + 1] / real[1] * second[0], second[i], 1e-5);
    }
  }
}

TEST(Svd, ReconstructsWithOrthonormalVectors) {
  for (const Shape& shape : kShapes) {
    const Tensor a = random(shape, 5);
    const TensorList svd = Svd::call(a, false);
    expect_same(matmul(scaled(svd[0], svd[1]), svd[2]), a);
    expect_orthonormal_columns(svd[0]);
    expect_orthonormal_columns(transposed(svd[2]));
  }
}

TEST(Svd, FullMatricesAreSquareAndBeginLikeTheReducedOnes) {
  for (const Shape& shape : {Shape{5, 2}, Shape{2, 5}, Shape{3, 4, 2}}) {
    const Tensor a = random(shape, 6);
    const TensorList svd = Svd::call(a);
    const std::int64_t k = svd[1].size(-1);
    EXPECT_EQ(svd[0].size(-1), a.size(-2));
    EXPECT_EQ(svd[2].size(-2), a.size(-1));
    expect_orthonormal_columns(svd[0]);
    expect_orthonormal_columns(transposed(svd[2]));
    expect_same(
        matmul(scaled(Narrow::call(svd[0], -1, 0, k), svd[1]), Narrow::call(svd[2], -2, 0, k)), a);
  }
}

TEST(Svd, SingularValuesFallAndAreKnownOnes) {
  expect_near(Svdvals::call(tensor({0, 2, -3, 0}, {2, 2})), {3, 2});
  // A Aᵀ has the eigenvalues 25 and 0.
  expect_near(Svd::call(tensor({3, 4}, {1, 2}))[1], {5});
  expect_near(Svdvals::call(tensor({1, 2, 2, 4}, {2, 2})), {5, 0});
  expect_near(Svdvals::call(tensor({1, 0, 0, 1, 0, 0, 0, 0}, {2, 2, 2})), {1, 1, 0, 0});
  // What is diagonal is not reflected.
  EXPECT_EQ(values(Svd::call(tensor({2, 0, 0, 3}, {2, 2}))[0]), (Values{0, 1, 1, 0}));
}

TEST(Svd, VectorsOfZeroSingularValuesAreOrthonormalToo) {
  const Tensor thin = random({5, 2}, 20);
  for (const Tensor& a :
       {matmul(thin, random({2, 4}, 21)), testing::full({3, 3}, 0, DType::kFloat64)}) {
    const TensorList svd = Svd::call(a);
    expect_orthonormal_columns(svd[0]);
    expect_orthonormal_columns(svd[2]);
    const std::int64_t k = svd[1].size(-1);
    expect_same(matmul(scaled(Narrow::call(svd[0], -1, 0, k), svd[1]), svd[2]), a);
    EXPECT_NEAR(values(svd[1]).back(), 0, 1e-15);
  }
}

// Hilbert's matrix of order 8 has the condition number 1.53e10.
TEST(Svd, KeepsSmallSingularValuesApart) {
  Values hilbert;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) hilbert.push_back(1.0 / (i + j + 1));
  }
  const Tensor a = tensor<double>(hilbert, {8, 8});
  const Values s = values(Svdvals::call(a));
  EXPECT_NEAR(s[0], 1.6959389969219498, 1e-14);
  // A tenth of the rounding error that the largest one may cause.
  EXPECT_NEAR(s[7], 1.1115389663e-10, 4e-17);
  EXPECT_NEAR(values(Eigvalsh::call(a))[0], 1.1115389663e-10, 1e-15);
}

// Rows and columns that decrease and increase by orders of magnitude, a diagonal of zeros, one
// number among almost zeros, numbers of any magnitude; sizes around that of a panel of rows.
TEST(Svd, OfUnevenMatrices) {
  const auto element = [](int kind, std::int64_t n, std::int64_t i, std::int64_t j) {
    const double wave = std::sin(static_cast<double>(7 * i + 3 * j + i * j));
    switch (kind) {
      case 0:
        return std::ldexp(wave, static_cast<int>(-20 * i));
      case 1:
        return std::ldexp(wave, static_cast<int>(20 * (i - n)));
      case 2:
        return std::ldexp(wave, static_cast<int>(-3 * (i + j)));
      case 3:
        return j == i + 1 ? 1.0 : 0.0;
      case 4:
        return i == 0 && j == 0 ? 1.0 : wave * 1e-200;
      case 5:
        return std::ldexp(
            wave, static_cast<int>(900 * std::cos(static_cast<double>(5 * i + 11 * j))) - 900);
      case 6: {
        const Values rising{1e-309, 2e-5, 6e-4, 6e-13, 1.5};
        return (j == i || j == i + 1) && i + j < 5 ? rising[static_cast<std::size_t>(i + j)] : 0.0;
      }
      default:
        return j == i || j == i + 1 ? std::pow(10.0, static_cast<double>(i - n)) : 0.0;
    }
  };
  for (int kind = 0; kind < 8; ++kind) {
    for (const std::int64_t n : {1, 2, 7, 8, 9, 33}) {
      const Tensor a = testing::generated<double>(
          {n, n}, [&](std::int64_t at) { return element(kind, n, at / n, at % n); });
      const TensorList svd = Svd::call(a);
      expect_same(matmul(scaled(svd[0], svd[1]), svd[2]), a);
      expect_orthonormal_columns(svd[0]);
      expect_orthonormal_columns(svd[2]);
      EXPECT_EQ(values(Svdvals::call(a)), values(svd[1]));
      EXPECT_TRUE(std::ranges::is_sorted(values(svd[1]), std::greater<>()));
    }
  }
}

TEST(Decompositions, DoNotDependOnTheScale) {
  const Tensor a = symmetric(random({4, 4}, 22));
  for (const double scale : {1e-250, 1e250}) {
    const Tensor far = (Var(a) * scale).tensor();
    const auto expect_scaled = [&](const Tensor& actual, const Tensor& expected) {
      expect_same((Var(actual) / scale).tensor(), expected, 1e-13);
    };
    expect_scaled(Qr::call(far)[1], Qr::call(a)[1]);
    expect_scaled(Svdvals::call(far), Svdvals::call(a));
    expect_scaled(Eigvalsh::call(far), Eigvalsh::call(a));
  }
}

TEST(Svd, OfNothing) {
  for (const DType dtype : {DType::kFloat32, DType::kComplex64}) {
    const TensorList svd = Svd::call(ToDType::call(tensor({}, {0, 2}), dtype));
    EXPECT_EQ(svd[0].shape(), (Shape{0, 0}));
    EXPECT_EQ(svd[1].shape(), Shape{0});
    expect_same(ToDType::call(svd[2], DType::kComplex128),
                ToDType::call(eye(2), DType::kComplex128));
  }
  EXPECT_EQ(Svdvals::call(tensor({}, {3, 0, 2})).shape(), (Shape{3, 0}));
}

// The values that do not depend on signs: |U|, S and |V|.
TEST(Svd, GradientsOfFullMatricesMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{4, 2}, Shape{2, 3}, Shape{2, 3, 3}}) {
    const std::int64_t k = std::min(shape[shape.size() - 1], shape[shape.size() - 2]);
    const auto parts = [&](const TensorList& in) {
      const TensorList svd = Svd::call(in[0]);
      return TensorList{abs(Var(Narrow::call(svd[0], -1, 0, k))).tensor(), svd[1],
                        abs(Var(Narrow::call(svd[2], -2, 0, k))).tensor()};
    };
    EXPECT_TRUE(gradcheck(parts, {random_leaf(shape, 7)}));
  }
}

TEST(Svd, EachResultHasAGradientOfItsOwn) {
  const Tensor a = random_leaf({4, 2}, 8);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = [&](const TensorList& in) { return Svd::call(in[0], false)[i]; };
    EXPECT_TRUE(gradcheck_one(part, {a})) << i;
    EXPECT_TRUE(gradcheck_one(part, {random_leaf({2, 3}, 9)})) << i;
  }
}

// The norm of the singular values has a gradient even where the vectors have none.
TEST(Svdvals, AreDifferentiableWhereTheyRepeat) {
  const Tensor a = leaf<double>({2, 0, 0, 2}, {2, 2});
  backward({sum(Svdvals::call(a))});
  expect_near(grad(a), {1, 0, 0, 1});
}

TEST(Svd, ReportsWhatIsNotFinite) {
  expect_error(ErrorCode::kInvalidArgument,
               "[svd] matrix 1 of the batch: the matrix has elements that are NaN or infinite",
               [] { Svd::call(tensor({1, 2, NAN, 1}, {2, 1, 2})); });
}

TEST(Eigh, ReconstructsWithOrthonormalVectors) {
  for (const Shape& shape :
       {Shape{3, 3}, Shape{2, 4, 4}, Shape{1, 1}, Shape{2, 2}, Shape{100, 100}}) {
    const Tensor a = symmetric(random(shape, 10));
    const TensorList lv = Eigh::call(a);
    expect_same(matmul(a, lv[1]), scaled(lv[1], lv[0]), 1e-11);
    expect_orthonormal_columns(lv[1]);
  }
}

TEST(Eigh, ValuesRiseAndAreKnownOnes) {
  const TensorList lv = Eigh::call(tensor({2, 1, 1, 2}, {2, 2}));
  expect_near(lv[0], {1, 3});
  const double half = std::sqrt(0.5);
  expect_near(abs(Var(lv[1])).tensor(), {half, half, half, half});
}

TEST(Eigh, ReadsTheTriangleItIsAskedFor) {
  const Tensor a = tensor({2, 99, 1, 2}, {2, 2});
  expect_near(Eigvalsh::call(a), {1, 3});
  expect_near(Eigh::call(transposed(a), Triangle::kUpper)[0], {1, 3});
}

TEST(Eigh, VectorsOfRepeatedValuesAreOrthonormalToo) {
  const Tensor ones = testing::full({5, 5}, 1, DType::kFloat64);
  const TensorList lv = Eigh::call(ones);
  expect_near(lv[0], {0, 0, 0, 0, 5}, 1e-14);
  expect_orthonormal_columns(lv[1]);
  expect_same(matmul(ones, lv[1]), scaled(lv[1], lv[0]));
  EXPECT_EQ(values(Eigh::call(eye(3))[0]), (Values{1, 1, 1}));
}

TEST(Eigh, OfNothing) {
  EXPECT_EQ(Eigh::call(tensor({}, {0, 0}))[0].shape(), Shape{0});
  EXPECT_EQ(Eigvalsh::call(tensor({}, {0, 3, 3})).shape(), (Shape{0, 3}));
}

TEST(Eigh, GradientsMatchFiniteDifferences) {
  const auto parts = [](const TensorList& in) { return Eigh::call(symmetric(in[0])); };
  EXPECT_TRUE(gradcheck(parts, {random_leaf({3, 3}, 11)}));
  EXPECT_TRUE(gradcheck(parts, {random_leaf({2, 2, 2}, 12)}));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto part = [&](const TensorList& in) {
      return Eigh::call(symmetric(in[0]), Triangle::kUpper)[i];
    };
    EXPECT_TRUE(gradcheck_one(part, {random_leaf({3, 3}, 13)})) << i;
  }
}

TEST(Eigh, GradientIsSymmetric) {
  const Tensor a = leaf<double>({2, 1, 1, 5}, {2, 2});
  backward({sum(Eigh::call(a)[1])});
  const Values g = values(grad(a));
  EXPECT_NEAR(g[1], g[2], 1e-15);
}

TEST(Eigvalsh, AreDifferentiableWhereTheyRepeat) {
  const Tensor a = leaf<double>({2, 0, 0, 2}, {2, 2});
  backward({sum(Eigvalsh::call(a))});
  expect_near(grad(a), {1, 0, 0, 1});
}

TEST(Eigh, ReportsWhatItCannotTake) {
  expect_error(ErrorCode::kShapeMismatch, "[eigh] A must be square, got 1x2 matrices",
               [] { Eigh::call(tensor({1, 2}, {1, 2})); });
  expect_error(ErrorCode::kInvalidArgument, "[eigh] the matrix has elements that are NaN",
               [] { Eigh::call(tensor({NAN, 1, 1, 2}, {2, 2})); });
}

TEST(Eig, IsBalanced) {
  const Values exact{3 - std::sqrt(3), 3, 3 + std::sqrt(3)};
  for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
    const Tensor a =
        ToDType::call(tensor<double>({4, 1e-8, 0, 1e8, 3, 1e-8, 0, 1e8, 2}, {3, 3}), dtype);
    for (const Tensor& l : {Eig::call(a)[0], Eigvals::call(a)}) {
      Values real = values(Real::call(l));
      std::sort(real.begin(), real.end());
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(real[i], exact[i], 1e-12);
    }
  }
}

// What is triangular after rows and columns have changed places has its eigenvalues on the
// diagonal.
TEST(Eig, OfATriangleIsItsDiagonal) {
  const Tensor a = tensor<double>({0.3, 0, 0, 1e9, 0.7, 0, -5, 1e-9, 0.1}, {3, 3});
  Values real = values(Real::call(Eigvals::call(a)));
  std::sort(real.begin(), real.end());
  EXPECT_EQ(real, (Values{0.1, 0.3, 0.7}));
}

TEST(Eig, OfARealMatrixHasRealValuesAndConjugatePairs) {
  const Tensor turned = tensor<double>({0.6, -0.8, 0.1, 0.8, 0.6, 0.2, 0, 0, 0.3}, {3, 3});
  const TensorList lv = Eig::call(turned);
  const Values l = values(lv[0]);
  const Values v = values(lv[1]);
  int real = 0;
  int paired = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (l[2 * i + 1] == 0) {
      ++real;
      for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(v[6 * row + 2 * i + 1], 0);
        EXPECT_FALSE(std::signbit(v[6 * row + 2 * i + 1]));
      }
    }
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j || l[2 * i] != l[2 * j] || l[2 * i + 1] != -l[2 * j + 1]) continue;
      ++paired;
      for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(v[6 * row + 2 * i], v[6 * row + 2 * j]);
        EXPECT_EQ(v[6 * row + 2 * i + 1], -v[6 * row + 2 * j + 1]);
      }
    }
  }
  EXPECT_EQ(real, 1);
  EXPECT_EQ(paired, 2);
}

TEST(Pinv, IsTheInverseWhereThereIsOne) {
  const Tensor a = random({2, 3, 3}, 14);
  expect_same(Pinv::call(a), Inverse::call(a), 1e-11);
}

TEST(Pinv, HasTheFourPropertiesOfMooreAndPenrose) {
  const Tensor thin = random({4, 2}, 15);
  const Tensor a = matmul(thin, random({2, 3}, 16));
  const Tensor p = Pinv::call(a);
  EXPECT_EQ(p.shape(), (Shape{3, 4}));
  expect_same(matmul(matmul(a, p), a), a, 1e-11);
  expect_same(matmul(matmul(p, a), p), p, 1e-11);
  expect_same(matmul(a, p), transposed(matmul(a, p)), 1e-11);
  expect_same(matmul(p, a), transposed(matmul(p, a)), 1e-11);
}

TEST(Pinv, LeavesSmallSingularValuesOut) {
  const Tensor a = tensor<double>({4, 0, 0, 1}, {2, 2});
  expect_near(Pinv::call(a), {0.25, 0, 0, 1});
  expect_near(Pinv::call(a, 2), {0.25, 0, 0, 0});
  expect_near(Pinv::call(a, {}, 0.5), {0.25, 0, 0, 0});
  expect_near(Pinv::call(a, 0.5, 0.3), {0.25, 0, 0, 0});
  EXPECT_EQ(Pinv::call(tensor({}, {0, 3})).shape(), (Shape{3, 0}));
}

TEST(Lstsq, SolvesWhatIsOverdetermined) {
  // The line nearest to (0, 1), (1, 2) and (2, 4).
  const Tensor a = tensor<double>({1, 0, 1, 1, 1, 2}, {3, 2});
  const Tensor b = tensor<double>({1, 2, 4});
  const TensorList plain = Lstsq::call(a, b);
  expect_near(plain[0], {5.0 / 6, 1.5});
  EXPECT_EQ(plain[1].shape(), Shape{0});
  EXPECT_EQ(value(plain[2]), 2);
  EXPECT_EQ(plain[2].dtype(), DType::kInt64);
  EXPECT_EQ(plain[3].shape(), Shape{0});
  const TensorList result = Lstsq::call(a, b, {}, LstsqDriver::kGelsd);
  expect_near(result[1], {1.0 / 6});
  expect_same(result[3], Svdvals::call(a));
}

TEST(Lstsq, TakesTheSolutionOfLeastNormOfMany) {
  expect_near(Lstsq::call(tensor({3, 4}, {1, 2}), tensor({25}))[0], {3, 4});
  // A singular matrix has neither full rank nor residuals.
  const Tensor a = tensor({1, 1, 1, 1, 1, 1}, {3, 2});
  const TensorList result = Lstsq::call(a, tensor({2, 2, 2}, {3, 1}), {}, LstsqDriver::kGelss);
  expect_near(result[0], {1, 1});
  EXPECT_EQ(value(result[2]), 1);
  EXPECT_EQ(result[1].shape(), Shape{0});
}

TEST(Lstsq, IsTheSameWithAndWithoutAGraph) {
  for (const Shape& shape : {Shape{4, 4}, Shape{7, 4}, Shape{2, 5, 4}, Shape{3, 4}}) {
    for (const std::int64_t columns : {1, 2, 6}) {
      Shape of_b = shape;
      of_b[of_b.size() - 1] = columns;
      const Tensor a = random_leaf(shape, 23);
      const Tensor b = random(of_b, 24);
      const TensorList plain = Lstsq::call(detach(a), b);
      const TensorList recorded = Lstsq::call(a, b);
      expect_same(plain[0], recorded[0]);
      EXPECT_EQ(values(plain[2]), values(recorded[2]));
    }
  }
}

TEST(Lstsq, OfABatchKnowsTheRankOfEachMatrix) {
  const Tensor a = tensor<double>({1, 2, 3, 4, 5, 6, 1, 1, 1, 1, 1, 1}, {2, 3, 2});
  const TensorList result = Lstsq::call(a, tensor<double>({1, 1, 1, 2, 2, 2}, {2, 3, 1}));
  expect_near(result[0], {-1, 1, 1, 1});
  EXPECT_EQ(values(result[2]), (Values{2, 1}));
  EXPECT_EQ(values(Lstsq::call(Narrow::call(a, 0, 0, 1),
                               testing::full({1, 3, 1}, 1, DType::kFloat64), 0.5)[2]),
            Values{1});
}

TEST(Lstsq, BatchesBroadcast) {
  const Tensor a = random({2, 1, 4, 2}, 17);
  const Tensor b = random({1, 3, 4, 5}, 18);
  EXPECT_EQ(Lstsq::call(a, b)[0].shape(), (Shape{2, 3, 2, 5}));
  EXPECT_EQ(Lstsq::call(a, b)[2].shape(), (Shape{2, 1}));
}

TEST(Lstsq, ReportsWhatDoesNotFit) {
  const Tensor a = tensor({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorCode::kShapeMismatch, "the same number of rows, got 2 and 3",
               [&] { Lstsq::call(a, tensor({1, 2, 3}, {3, 1})); });
  expect_error(ErrorCode::kShapeMismatch, "the same number of rows, got 2 and 3",
               [&] { Lstsq::call(a, tensor({1, 2, 3})); });
  expect_error(ErrorCode::kShapeMismatch, "as many dimensions as A or one less, got 3 and 2",
               [&] { Lstsq::call(a, tensor({1, 2}, {1, 2, 1})); });
  expect_error(ErrorCode::kDtypeMismatch,
               "[lstsq] A and B must have the same dtype, got float32 and float64",
               [&] { Lstsq::call(a, tensor<double>({1, 2})); });
}

}  // namespace
}  // namespace eg
