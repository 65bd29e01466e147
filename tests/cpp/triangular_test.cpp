// Factorisations of matrices that take several panels.

#include "backend/cpu/triangular.h"

#include <cmath>

#include <gtest/gtest.h>

namespace eg::cpu {
namespace {

// Numbers in [-1, 1] without a pattern.
ColumnMatrix noise(std::int64_t rows, std::int64_t columns) {
  ColumnMatrix matrix(rows, columns);
  for (std::int64_t i = 0; i < rows * columns; ++i)
    matrix.data()[i] = std::sin(static_cast<double>(i * i + 1));
  return matrix;
}

double dot(const double* a, std::int64_t step_a, const double* b, std::int64_t step_b,
           std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i * step_a] * b[i * step_b];
  return sum;
}

class Triangular : public testing::TestWithParam<std::int64_t> {};

// One panel, a panel and one row, several panels and a rest.
INSTANTIATE_TEST_SUITE_P(Sizes, Triangular, testing::Values(1, 7, 32, 33, 100));

TEST_P(Triangular, LuSolvesTheSystem) {
  const std::int64_t n = GetParam();
  const ColumnMatrix a = noise(n, n);
  ColumnMatrix x = noise(n, 3);
  const ColumnMatrix b = x;
  Lu(a).solve(x);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < 3; ++j)
      EXPECT_NEAR(dot(a.data() + i, n, x.column(j), 1, n), b(i, j), 1e-9) << i << ", " << j;
  }
}

TEST_P(Triangular, LuPivotsOnTheLargest) {
  const std::int64_t n = GetParam();
  const Lu lu(noise(n, n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) EXPECT_LE(std::abs(lu.factors(i, j)), 1 + 1e-9);
  }
}

TEST_P(Triangular, LuFindsTheZeroPivot) {
  const std::int64_t n = GetParam();
  ColumnMatrix a = noise(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, n / 2) = 0;
  EXPECT_EQ(Lu(a).first_zero_pivot(), n / 2 + 1);
  EXPECT_EQ(Lu(noise(n, n)).first_zero_pivot(), 0);
}

// A A^T + I
ColumnMatrix positive_definite(std::int64_t n) {
  const ColumnMatrix a = noise(n, n);
  ColumnMatrix product(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      product(i, j) = dot(a.data() + i, n, a.data() + j, n, n) + (i == j ? 1 : 0);
  }
  return product;
}

TEST_P(Triangular, CholeskyMultipliesBackFromTheLowerTriangle) {
  const std::int64_t n = GetParam();
  const ColumnMatrix a = positive_definite(n);
  ColumnMatrix l = a;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i + 1; j < n; ++j) l(i, j) = std::nan("");
  }
  ASSERT_EQ(factorize_cholesky(l), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_NEAR(dot(l.data() + i, n, l.data() + j, n, n), a(i, j), 1e-9) << i << ", " << j;
      if (j > i) {
        EXPECT_EQ(l(i, j), 0);
      }
    }
  }
}

TEST_P(Triangular, CholeskyNamesTheFirstBadMinor) {
  const std::int64_t n = GetParam();
  ColumnMatrix a = positive_definite(n);
  a(n - 1, n - 1) = -1;
  EXPECT_EQ(factorize_cholesky(a), n);
  ColumnMatrix b = positive_definite(n);
  b(n / 2, n / 2) = std::nan("");
  EXPECT_EQ(factorize_cholesky(b), n / 2 + 1);
}

}  // namespace
}  // namespace eg::cpu
