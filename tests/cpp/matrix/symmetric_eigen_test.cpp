// Eigenvectors of symmetric matrices of many sizes, with repeated eigenvalues, with parts that
// vanish or differ in magnitude, in both dtypes.

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "dispatch/factories.h"
#include "ops/create/copy.h"
#include "ops/linalg/linalg.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/view.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::values;

void expect_eigenvectors(const Tensor& a) {
  const std::int64_t n = a.size(-1);
  double greatest = 0;
  for (const double value : values(a)) greatest = std::max(greatest, std::abs(value));
  const double rounding = a.dtype() == DType::kFloat32 ? 1e-6 : 1e-14;
  const double tolerance = rounding * static_cast<double>(n + 2);
  const TensorList parts = Eigh::call(a);
  const Tensor& v = parts[1];
  const Tensor product = (Var(v) * Var(Unsqueeze::call(parts[0], -2))).tensor();
  testing::expect_near(Matmul::call(product, transposed(v)), values(a), tolerance * greatest);
  const Tensor eye = Diag::call(full({n}, 1, a.dtype(), {}));
  testing::expect_near(Matmul::call(transposed(v), v), values(eye), tolerance);
  const std::vector<double> l = values(parts[0]);
  EXPECT_TRUE(std::is_sorted(l.begin(), l.end()));
  testing::expect_near(Eigvalsh::call(a), l, tolerance * greatest);
}

// A number for each row and column that is unchanged when both are exchanged.
template <class Number>
void check(std::int64_t n, Number&& number) {
  const Tensor a = testing::generated<double>({n, n}, [&](std::int64_t i) {
    return static_cast<double>(number(std::max(i / n, i % n), std::min(i / n, i % n)));
  });
  expect_eigenvectors(a);
  expect_eigenvectors(ToDType::call(a, DType::kFloat32));
}

double disorder(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 7919 + j * 104729 + i * j * 31) % 1009) / 1009 - 0.5;
}

TEST(Eigh, OfEverySize) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 70}) check(n, disorder);
}

TEST(Eigh, OfRepeatedValuesAndBlocks) {
  for (const std::int64_t n : {2, 9, 20}) {
    check(n, [](auto, auto) { return 0; });
    check(n, [](auto, auto) { return 1; });
    check(n, [](auto i, auto j) { return i == j ? 3 : 0; });
    check(n, [](auto i, auto j) { return i == j ? i % 3 : 0; });
    check(n, [](auto i, auto j) { return i == j + 1 ? 1 : 0; });
    check(n, [](auto i, auto j) { return i / 4 == j / 4 ? disorder(i, j) : 0; });
  }
}

TEST(Eigh, OfNumbersOfManyMagnitudes) {
  for (const std::int64_t n : {3, 12, 25}) {
    for (const double base : {0.1, 0.001, 10.0}) {
      check(n, [&](auto i, auto j) {
        return disorder(i, j) * std::pow(base, static_cast<double>(i + j) / 2);
      });
    }
    check(n, [](auto i, auto j) { return 1e-30 * disorder(i, j); });
    check(n, [](auto i, auto j) { return 1e30 * disorder(i, j); });
    check(n, [](auto i, auto j) { return i == j ? 1 : 1e-20 * disorder(i, j); });
  }
}

// A covariance of independent parts of very different magnitudes, in both orders: eigenvalues are
// close to the diagonal, and those far below rounding errors of the largest have all their digits.
TEST(Eigh, OfSmallValuesIsExactWhereverTheyAre) {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kComplex128}) {
    constexpr std::int64_t kSize = 5;
    const double base = dtype == DType::kFloat32 ? 1e-3 : 1e-5;
    std::vector<double> first;
    for (const std::array<int, kSize>& order :
         {std::array{0, 1, 2, 3, 4}, std::array{4, 3, 2, 1, 0}}) {
      const Tensor a = testing::generated<double>({kSize, kSize}, [&](std::int64_t i) {
        const int row = order[static_cast<std::size_t>(i / kSize)];
        const int column = order[static_cast<std::size_t>(i % kSize)];
        return std::pow(base, row + column) * (row == column ? 1 : 0.25);
      });
      const std::vector<double> l = values(Eigh::call(ToDType::call(a, dtype))[0]);
      // Those of the leading parts: quotients of determinants.
      for (std::int64_t k = 0; k < kSize; ++k) {
        const double own = std::pow(base, 2 * (kSize - 1 - k));
        const double n = static_cast<double>(kSize - 1 - k);
        const double quotient = n == 0 ? 1 : 0.75 * (1 + 0.25 * n) / (1 + 0.25 * (n - 1));
        EXPECT_NEAR(l[static_cast<std::size_t>(k)] / (own * quotient), 1, 1e-4) << k;
      }
      if (first.empty()) first = l;
      for (std::size_t k = 0; k < l.size(); ++k)
        EXPECT_NEAR(l[k] / first[k], 1, dtype == DType::kFloat32 ? 1e-5 : 1e-13) << k;
    }
  }
}

}  // namespace
}  // namespace eg
