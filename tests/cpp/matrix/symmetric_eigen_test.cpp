// Eigenvectors of symmetric matrices of many sizes, with repeated eigenvalues, with parts that
// vanish or differ in magnitude, in both dtypes.

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

}  // namespace
}  // namespace eg
