// Matrices around the sizes at which factorisations are cut into blocks, checked by multiplying the
// factors.

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/linalg/linalg.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::values;

constexpr std::int64_t kSizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 65};

// Unordered numbers from -0.5 to 0.5.
Tensor numbers(const Shape& shape, DType dtype = DType::kFloat64) {
  const auto at = [](std::int64_t i) {
    return static_cast<double>((i * 7919 + i * i * 31) % 1009) / 1009 - 0.5;
  };
  const auto wide = testing::generated<double>(shape, at);
  return dtype == DType::kFloat64 ? wide : ToDType::call(wide, dtype);
}

// A matrix with a well-conditioned system.
Tensor heavy_diagonal(std::int64_t n, DType dtype = DType::kFloat64) {
  const Var ones = Diag::call(testing::full({n}, 1, dtype));
  return (Var(numbers({n, n}, dtype)) * (1.0 / static_cast<double>(n)) + ones).tensor();
}

void expect_same(const Tensor& actual, const Tensor& expected) {
  testing::expect_near(actual, values(expected),
                       expected.dtype() == DType::kFloat32 ? 1e-5 : 1e-12);
}

TEST(SolveTriangular, OfEverySizeAndSide) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const std::int64_t n : kSizes) {
      const Tensor a = heavy_diagonal(n, dtype);
      for (const bool upper : {false, true}) {
        const Tensor triangle = upper ? Triu::call(a) : Tril::call(a);
        for (const std::int64_t columns : {1, 3, 4, 18, 37}) {
          const Tensor b = numbers({n, columns}, dtype);
          expect_same(matmul(triangle, SolveTriangular::call(a, b, upper)), b);
          const Tensor c = transposed(b);
          expect_same(matmul(SolveTriangular::call(a, c, upper, false), triangle), c);
        }
        const Tensor b = numbers({n, 5}, dtype);
        const Tensor strict = upper ? Triu::call(a, 1) : Tril::call(a, -1);
        const Tensor x = SolveTriangular::call(a, b, upper, true, true);
        expect_same((Var(matmul(strict, x)) + Var(x)).tensor(), b);
      }
    }
  }
}

TEST(SolveTriangular, OneTriangleSolvesForAWholeBatch) {
  const Tensor a = Tril::call(heavy_diagonal(19));
  const Tensor b = numbers({3, 2, 19, 4});
  const Tensor x = SolveTriangular::call(a, b, false);
  EXPECT_EQ(x.shape(), b.shape());
  expect_same(matmul(a, x), b);
  const Tensor one = Reshape::call(a, {1, 1, 19, 19});
  expect_same(SolveTriangular::call(one, b, false), x);
  expect_same(
      SolveTriangular::call(Reshape::call(a, {1, 19, 19}), Reshape::call(b, {6, 19, 4}), false),
      Reshape::call(x, {6, 19, 4}));
  EXPECT_EQ(SolveTriangular::call(a, numbers({2, 19, 0}), false).shape(), (Shape{2, 19, 0}));
  const Tensor nothing = numbers({0, 0});
  EXPECT_EQ(SolveTriangular::call(nothing, numbers({2, 0, 3}), false).shape(), (Shape{2, 0, 3}));
}

TEST(Cholesky, OfEverySize) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const std::int64_t n : kSizes) {
      const Tensor root = heavy_diagonal(n, dtype);
      const Tensor a = matmul(root, transposed(root));
      const Tensor l = Cholesky::call(a);
      expect_same(matmul(l, transposed(l)), a);
      expect_same(Tril::call(l), l);
      expect_same(Cholesky::call(Tril::call(a)), l);
    }
  }
}

TEST(Cholesky, NamesTheMinorInEveryBlock) {
  const std::int64_t n = 70;
  for (const std::int64_t bad : {1, 2, 32, 33, 65, 70}) {
    const std::string minor = "leading minor of order " + std::to_string(bad) + " ";
    for (const double pivot : {0.0, -1.0, std::nan("")}) {
      const Tensor a = Diag::call(testing::generated<double>(
          {n}, [&](std::int64_t i) { return i + 1 == bad ? pivot : 2.0; }));
      expect_error(ErrorCode::kInvalidArgument, std::isnan(pivot) ? "NaN or infinite" : minor,
                   [&] { Cholesky::call(a); });
    }
  }
}

TEST(Lu, OfEverySizeAndShape) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    for (const std::int64_t rows : kSizes) {
      for (const std::int64_t columns : {std::int64_t{1}, rows, std::int64_t{29}}) {
        const Tensor a = numbers({rows, columns}, dtype);
        const TensorList f = Lu::call(a);
        expect_same(matmul(matmul(f[0], f[1]), f[2]), a);
        for (const double factor : values(f[1])) EXPECT_LE(std::abs(factor), 1);
      }
    }
  }
}

TEST(Solve, OfEverySize) {
  for (const std::int64_t n : kSizes) {
    // A matrix whose largest numbers are far from the diagonal.
    const Tensor a = Flip::call(heavy_diagonal(n), Dims{0});
    const Tensor b = numbers({n, 5});
    expect_same(matmul(a, Solve::call(a, b)), b);
    expect_same(matmul(a, Inverse::call(a)), Diag::call(testing::full({n}, 1, DType::kFloat64)));
  }
}

TEST(Det, OfTrianglesInDisorderIsTheirDiagonals) {
  for (const std::int64_t n : kSizes) {
    const Tensor triangle = Tril::call(heavy_diagonal(n));
    double expected = 1;
    for (const double pivot : values(Diag::call(triangle))) expected *= pivot;
    testing::expect_near(Det::call(triangle), {expected}, 1e-12);
    // Reversing n rows takes n / 2 exchanges.
    const double sign = n / 2 % 2 == 0 ? 1 : -1;
    testing::expect_near(Det::call(Flip::call(triangle, Dims{0})), {sign * expected}, 1e-12);
  }
}

TEST(Inverse, NamesThePivotInEveryBlock) {
  for (const std::int64_t bad : {1, 8, 9, 40}) {
    const Tensor a = Diag::call(
        testing::generated<double>({40}, [&](std::int64_t i) { return i + 1 == bad ? 0.0 : 2.0; }));
    expect_error(ErrorCode::kInvalidArgument,
                 "diagonal element " + std::to_string(bad) + " of its factorization is zero",
                 [&] { Inverse::call(a); });
  }
}

}  // namespace
}  // namespace eg
