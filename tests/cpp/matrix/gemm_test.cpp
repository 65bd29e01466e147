// markers: threads, variant, no-device

#include "backend/cpu/matrix/gemm/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/thread_pool.h"

namespace eg::gemm {
namespace {

/// The memory layout of an operand.
enum class Layout { kRows, kColumns, kPaddedRows, kPaddedColumns, kStrided };

constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kPaddedRows,
                               Layout::kPaddedColumns, Layout::kStrided};

/// Sets the thread count for one test and stops the helper threads afterwards.
class Threads {
 public:
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() {
    shutdown_thread_pool();
    set_num_threads(1);
  }
};

/// Returns a number between -1 and 1; the library's distributions take ten times as long.
template <class T>
T random_number(std::mt19937& random) {
  return static_cast<T>(static_cast<std::int32_t>(random())) / T{2147483648.0};
}

/// A matrix in a buffer that ends with its last element, so that a sanitizer sees a read beyond it.
template <class T>
struct Operand {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::vector<T> buffer;

  Operand(std::int64_t row_count, std::int64_t column_count, Layout layout)
      : rows(row_count), columns(column_count) {
    switch (layout) {
      case Layout::kRows:
        row_stride = columns, column_stride = 1;
        break;
      case Layout::kColumns:
        row_stride = 1, column_stride = rows;
        break;
      case Layout::kPaddedRows:
        row_stride = columns + 3, column_stride = 1;
        break;
      case Layout::kPaddedColumns:
        row_stride = 1, column_stride = rows + 5;
        break;
      case Layout::kStrided:
        row_stride = 2, column_stride = 2 * rows + 1;
        break;
    }
    if (rows > 0 && columns > 0) buffer.resize(index(rows - 1, columns - 1) + 1);
  }

  std::size_t index(std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(i * row_stride + j * column_stride);
  }
  T& at(std::int64_t i, std::int64_t j) { return buffer[index(i, j)]; }
  T at(std::int64_t i, std::int64_t j) const { return buffer[index(i, j)]; }
  Matrix<T> matrix() const { return {buffer.data(), row_stride, column_stride}; }

  void fill(std::mt19937& random) {
    for (T& value : buffer) value = random_number<T>(random);
  }
};

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::mt19937& random) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& value : numbers) value = random_number<T>(random);
  return numbers;
}

/// The product in double precision; `bias` may be empty.
template <class T>
std::vector<double> reference(double alpha, const Operand<T>& a, const Operand<T>& b, double beta,
                              const Operand<T>& c, const std::vector<T>& bias) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t j = 0; j < c.columns; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < a.columns; ++p) {
        sum += static_cast<double>(a.at(i, p)) * static_cast<double>(b.at(p, j));
      }
      double value = alpha * sum;
      if (beta != 0) value += beta * static_cast<double>(c.at(i, j));
      if (!bias.empty()) value += static_cast<double>(bias[static_cast<std::size_t>(j)]);
      result.push_back(value);
    }
  }
  return result;
}

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// Checks one product against the reference; the numbers between the rows of C must not change.
template <class T>
void expect_product(const Shape& shape, Layout layout_a, Layout layout_b, T alpha, T beta,
                    bool with_bias) {
  const auto [m, n, k] = shape;
  SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", layouts "
                                  << static_cast<int>(layout_a) << static_cast<int>(layout_b)
                                  << ", alpha " << alpha << ", beta " << beta << ", bias "
                                  << with_bias);
  std::mt19937 random(static_cast<std::uint32_t>(1 + m * 31 + n * 17 + k));
  Operand<T> a(m, k, layout_a);
  Operand<T> b(k, n, layout_b);
  Operand<T> c(m, n, Layout::kPaddedRows);
  a.fill(random);
  b.fill(random);
  c.fill(random);
  const std::vector<T> bias = random_numbers<T>(with_bias ? n : 0, random);
  const Operand<T> before = c;
  const std::vector<double> expected = reference<T>(alpha, a, b, beta, c, bias);

  gemm<T>(m, n, k, alpha, a.matrix(), b.matrix(), beta, c.buffer.data(), c.row_stride,
          with_bias ? bias.data() : nullptr);

  const double tolerance =
      2 * std::numeric_limits<T>::epsilon() * (2 + static_cast<double>(k)) * (1 + std::abs(alpha));
  std::size_t next = 0;
  std::vector<bool> written(c.buffer.size(), false);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      written[c.index(i, j)] = true;
      ASSERT_NEAR(static_cast<double>(c.at(i, j)), expected[next++], tolerance)
          << "at " << i << ", " << j;
    }
  }
  for (std::size_t i = 0; i < c.buffer.size(); ++i) {
    ASSERT_TRUE(written[i] || c.buffer[i] == before.buffer[i]) << "between rows, at " << i;
  }
}

template <class T>
class Gemm : public testing::Test {};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Types);

TYPED_TEST(Gemm, AgreesWithTheReferenceForEveryLayoutAndEdge) {
  using T = TypeParam;
  const Shape shapes[] = {{1, 1, 1},    {2, 3, 4},    {4, 4, 4},     {5, 5, 5},
                          {6, 8, 7},    {7, 9, 16},   {3, 17, 33},   {2, 200, 5},
                          {11, 13, 1},  {12, 16, 64}, {13, 12, 2},   {10, 31, 19},
                          {31, 10, 65}, {64, 10, 3},  {19, 26, 130}, {9, 15, 300}};
  for (const Shape& shape : shapes) {
    for (const Layout layout_a : kLayouts) {
      for (const Layout layout_b : kLayouts) {
        expect_product<T>(shape, layout_a, layout_b, T{1}, T{0}, false);
        expect_product<T>(shape, layout_a, layout_b, T{-0.5}, T{2}, true);
      }
    }
  }
}

TYPED_TEST(Gemm, AgreesWithTheReferenceForAllSmallShapes) {
  using T = TypeParam;
  for (std::int64_t m = 1; m <= 14; ++m) {
    for (std::int64_t n = 1; n <= 18; ++n) {
      for (const std::int64_t k : {1, 2, 3, 4, 5, 8, 9, 17}) {
        expect_product<T>({m, n, k}, Layout::kRows, Layout::kColumns, T{1}, T{1}, false);
        expect_product<T>({m, n, k}, Layout::kColumns, Layout::kRows, T{2}, T{0}, true);
      }
    }
  }
}

TYPED_TEST(Gemm, AgreesWithTheReferenceForVectors) {
  using T = TypeParam;
  for (const std::int64_t size : {1, 3, 4, 7, 8, 63, 130, 1030}) {
    for (const std::int64_t k : {1, 2, 5, 8, 31, 257}) {
      for (const Layout layout_a : kLayouts) {
        for (const Layout layout_b : kLayouts) {
          expect_product<T>({1, size, k}, layout_a, layout_b, T{1}, T{0}, true);
          expect_product<T>({size, 1, k}, layout_a, layout_b, T{3}, T{-1}, true);
        }
      }
    }
  }
}

TYPED_TEST(Gemm, AgreesWithTheReferenceForVectorsAndMatricesThatNoCacheHolds) {
  using T = TypeParam;
  for (const std::int64_t k : {1536, 2048, 3073, 4099}) {
    for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
      expect_product<T>({1, 9, k}, Layout::kRows, layout, T{1}, T{0}, true);
      expect_product<T>({9, 1, k}, layout, Layout::kRows, T{2}, T{1}, true);
    }
  }
  for (const auto& [n, k] : {std::pair{1100, 1030}, std::pair{7000, 190}, std::pair{160, 8001}}) {
    for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
      expect_product<T>({1, n, k}, Layout::kRows, layout, T{1}, T{0.5}, true);
      expect_product<T>({n, 1, k}, layout, Layout::kColumns, T{3}, T{0}, true);
    }
  }
}

TYPED_TEST(Gemm, AgreesWithTheReferenceOverSeveralBlocks) {
  using T = TypeParam;
  // Beyond one block of rows, of columns and of depth, for both element types.
  for (const Shape& shape : {Shape{1100, 40, 257}, Shape{20, 1100, 520}, Shape{70, 65, 784}}) {
    for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
      expect_product<T>(shape, layout, layout, T{1}, T{0.5}, true);
      expect_product<T>(shape, layout, layout, T{1}, T{1}, true);
      expect_product<T>(shape, layout, layout, T{1}, T{0}, true);
    }
  }
}

TYPED_TEST(Gemm, GivesTheSameBitsForEveryThreadCount) {
  using T = TypeParam;
  for (const Shape& shape : {Shape{150, 200, 300}, Shape{64, 128, 784}, Shape{1, 2000, 700},
                             Shape{1500, 1, 600}, Shape{10, 3000, 64}, Shape{1030, 24, 300}}) {
    const auto [m, n, k] = shape;
    for (const Layout layout : {Layout::kRows, Layout::kColumns}) {
      std::mt19937 random(7);
      Operand<T> a(m, k, layout);
      Operand<T> b(k, n, layout);
      a.fill(random);
      b.fill(random);
      std::vector<T> one;
      for (const int threads : {1, 2, 4}) {
        const Threads guard(threads);
        std::vector<T> c(static_cast<std::size_t>(m * n));
        gemm<T>(m, n, k, T{1}, a.matrix(), b.matrix(), T{0}, c.data(), n);
        if (threads == 1) one = c;
        EXPECT_TRUE(c == one) << m << " x " << n << " x " << k << ", " << threads << " threads";
      }
    }
  }
}

TYPED_TEST(Gemm, AgreesWithTheReferenceOnSeveralThreads) {
  using T = TypeParam;
  for (const int threads : {2, 4}) {
    const Threads guard(threads);
    for (const Shape& shape : {Shape{97, 103, 260}, Shape{1, 3000, 300}, Shape{600, 10, 300}}) {
      expect_product<T>(shape, Layout::kRows, Layout::kColumns, T{1}, T{0}, true);
      expect_product<T>(shape, Layout::kColumns, Layout::kRows, T{1}, T{2}, false);
    }
  }
}

TYPED_TEST(Gemm, DoesNotReadCWhenBetaIsZero) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Shape& shape : {Shape{3, 3, 3}, Shape{1, 40, 9}, Shape{40, 1, 9}, Shape{20, 30, 40},
                             Shape{20, 30, 600}, Shape{3, 3, 0}}) {
    const auto [m, n, k] = shape;
    const std::vector<T> ones(static_cast<std::size_t>(std::max(m, n) * k), T{1});
    std::vector<T> c(static_cast<std::size_t>(m * n), nan);
    gemm<T>(m, n, k, T{1}, {ones.data(), k, 1}, {ones.data(), n, 1}, T{0}, c.data(), n);
    EXPECT_EQ(c, std::vector<T>(c.size(), static_cast<T>(k)));
  }
}

TYPED_TEST(Gemm, ScalesCWhenDepthIsZero) {
  using T = TypeParam;
  const T bias[] = {10, 20};
  std::vector<T> c = {1, 2, 3, 4};
  gemm<T>(2, 2, 0, T{1}, {nullptr, 0, 1}, {nullptr, 2, 1}, T{3}, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{3, 6, 9, 12}));
  gemm<T>(2, 2, 0, T{1}, {nullptr, 0, 1}, {nullptr, 2, 1}, T{0}, c.data(), 2, bias);
  EXPECT_EQ(c, (std::vector<T>{10, 20, 10, 20}));
}

TYPED_TEST(Gemm, TouchesNothingWhenCIsEmpty) {
  using T = TypeParam;
  gemm<T>(0, 5, 3, T{1}, {nullptr, 3, 1}, {nullptr, 5, 1}, T{0}, nullptr, 5);
  gemm<T>(5, 0, 3, T{1}, {nullptr, 3, 1}, {nullptr, 0, 1}, T{0}, nullptr, 0);
  batched_gemm<T>(0, 5, 5, 3, T{1}, {nullptr, 3, 1}, 15, {nullptr, 5, 1}, 15, T{0}, nullptr, 25, 5);
}

TYPED_TEST(Gemm, NanAndInfinityReachExactlyTheirRowOrColumn) {
  using T = TypeParam;
  for (const Shape& shape :
       {Shape{4, 4, 4}, Shape{1, 70, 9}, Shape{70, 1, 9}, Shape{23, 27, 300}, Shape{3, 50, 20}}) {
    const auto [m, n, k] = shape;
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      for (std::int64_t row = 0; row < m; ++row) {
        std::vector<T> a(static_cast<std::size_t>(m * k), T{1});
        const std::vector<T> b(static_cast<std::size_t>(k * n), T{1});
        a[static_cast<std::size_t>(row * k + k - 1)] = bad;
        std::vector<T> c(static_cast<std::size_t>(m * n));
        gemm<T>(m, n, k, T{1}, {a.data(), k, 1}, {b.data(), n, 1}, T{0}, c.data(), n);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            ASSERT_EQ(std::isfinite(c[static_cast<std::size_t>(i * n + j)]), i != row);
          }
        }
      }
    }
  }
}

TYPED_TEST(Gemm, ZeroTimesInfinityIsNan) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> a(400, T{0});
  const std::vector<T> b(400, infinity);
  std::vector<T> c(400);
  gemm<T>(20, 20, 20, T{1}, {a.data(), 20, 1}, {b.data(), 20, 1}, T{0}, c.data(), 20);
  for (const T value : c) EXPECT_TRUE(std::isnan(value));
  gemm<T>(20, 20, 20, T{0}, {b.data(), 20, 1}, {b.data(), 20, 1}, T{0}, c.data(), 20);
  for (const T value : c) EXPECT_TRUE(std::isnan(value));
}

/// Checks batched_gemm against one gemm per matrix.
template <class T>
void expect_batch(std::int64_t batch, const Shape& shape, bool share_a, bool share_b, bool gaps) {
  const auto [m, n, k] = shape;
  const std::int64_t gap = gaps ? 5 : 0;
  const std::int64_t stride_a = share_a ? 0 : m * k + gap;
  const std::int64_t stride_b = share_b ? 0 : k * n + gap;
  const std::int64_t stride_c = m * n + gap;
  std::mt19937 random(3);
  const std::vector<T> a = random_numbers<T>(batch * (m * k + gap), random);
  const std::vector<T> b = random_numbers<T>(batch * (k * n + gap), random);
  const std::vector<T> bias = random_numbers<T>(n, random);
  std::vector<T> c = random_numbers<T>(batch * stride_c, random);
  std::vector<T> expected = c;
  for (std::int64_t i = 0; i < batch; ++i) {
    gemm<T>(m, n, k, T{2}, {a.data() + i * stride_a, k, 1}, {b.data() + i * stride_b, 1, k}, T{1},
            expected.data() + i * stride_c, n, bias.data());
  }
  batched_gemm<T>(batch, m, n, k, T{2}, {a.data(), k, 1}, stride_a, {b.data(), 1, k}, stride_b,
                  T{1}, c.data(), stride_c, n, bias.data());
  for (std::size_t i = 0; i < c.size(); ++i) {
    ASSERT_NEAR(c[i], expected[i], 1e-4) << batch << " of " << m << " x " << n << " x " << k;
  }
}

TYPED_TEST(Gemm, BatchAgreesWithOneProductPerMatrix) {
  for (const int threads : {1, 2, 4}) {
    const Threads guard(threads);
    for (const bool share_a : {false, true}) {
      for (const bool share_b : {false, true}) {
        for (const bool gaps : {false, true}) {
          expect_batch<TypeParam>(33, {4, 4, 4}, share_a, share_b, gaps);
          expect_batch<TypeParam>(16, {64, 16, 64}, share_a, share_b, gaps);
          expect_batch<TypeParam>(3, {140, 150, 160}, share_a, share_b, gaps);
          expect_batch<TypeParam>(7, {1, 33, 20}, share_a, share_b, gaps);
        }
      }
    }
  }
}

}  // namespace
}  // namespace eg::gemm
