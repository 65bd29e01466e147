// markers: variant

// Fourier transforms against their definition, for sizes that cover every code path.

#include "ops/complex/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "ops/complex/complex.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::tensor;
using testing::values;
using C = std::complex<double>;
using Numbers = std::vector<double>;

Tensor random_numbers(const Shape& shape, unsigned seed) {
  Shape pairs = shape;
  pairs.push_back(2);
  return ViewAsComplex::call(detach(testing::random_leaf(pairs, seed)));
}

std::vector<C> by_definition(const std::vector<C>& x) {
  const std::size_t n = x.size();
  std::vector<C> y(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      y[j] += x[k] * std::polar(1.0, angle);
    }
  }
  return y;
}

class FftSizes : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(FftSizes, EqualTheDefinition) {
  const std::int64_t n = GetParam();
  const Tensor x = random_numbers({n}, 3);
  const Tensor given = on_host(x);
  const C* data = given.data_as<C>();
  const std::vector<C> expected = by_definition({data, data + n});
  const Tensor actual = on_host(Fft::call(x));
  for (std::int64_t j = 0; j < n; ++j) {
    const C difference = actual.data_as<C>()[j] - expected[static_cast<std::size_t>(j)];
    EXPECT_LT(std::abs(difference), 1e-12 * static_cast<double>(n)) << "at " << j;
  }
}

TEST_P(FftSizes, AreUndoneByTheInverse) {
  const std::int64_t n = GetParam();
  const Tensor x = random_numbers({2, n, 3}, 5);
  for (const FftNorm norm : {FftNorm::kBackward, FftNorm::kOrtho, FftNorm::kForward}) {
    const auto back = values(Ifft::call(Fft::call(x, {}, 1, norm), {}, 1, norm));
    const auto original = values(x);
    for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], original[i], 1e-12);
  }
}

TEST_P(FftSizes, OfRealNumbersAreUndoneToo) {
  const std::int64_t n = GetParam();
  const Tensor x = detach(testing::random_leaf({2, n}, 6));
  const auto back = values(Irfft::call(Rfft::call(x), n));
  const auto original = values(x);
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], original[i], 1e-12);
}

// Rows in several lanes, a single remaining row, and rows along an outer dimension.
TEST_P(FftSizes, OfRealNumbersAreHalfOfTheComplexOnes) {
  const std::int64_t n = GetParam();
  const Tensor x = detach(testing::random_leaf({3, n, 3}, 7));
  const Tensor whole = Fft::call(x, {}, 1);
  const auto half = values(Rfft::call(x, {}, 1));
  const auto expected = values(Narrow::call(whole, 1, 0, n / 2 + 1));
  ASSERT_EQ(half.size(), expected.size());
  for (std::size_t i = 0; i < half.size(); ++i) EXPECT_NEAR(half[i], expected[i], 1e-12);
}

// Where a spectrum mirrors itself its numbers are real, so imaginary parts there are ignored.
TEST_P(FftSizes, OfHalfASpectrumAreRealNumbers) {
  const std::int64_t n = GetParam();
  const std::int64_t given = n / 2 + 1;
  const Tensor x = random_numbers({3, given, 3}, 8);
  const Tensor host = on_host(x);
  const auto back = values(Irfft::call(x, n, 1));
  ASSERT_EQ(back.size(), static_cast<std::size_t>(9 * n));
  for (std::int64_t row = 0; row < 9; ++row) {
    const C* half = host.data_as<C>() + row / 3 * given * 3 + row % 3;
    std::vector<C> whole(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
      const C one = half[std::min(k, n - k) * 3];
      // By the definition of the transform of conjugates.
      whole[static_cast<std::size_t>(k)] =
          2 * k % n == 0 ? C(one.real()) : (2 * k < n ? std::conj(one) : one);
    }
    const std::vector<C> expected = by_definition(whole);
    for (std::int64_t j = 0; j < n; ++j) {
      const double actual = back[static_cast<std::size_t>((row / 3 * n + j) * 3 + row % 3)];
      EXPECT_NEAR(actual, expected[static_cast<std::size_t>(j)].real() / static_cast<double>(n),
                  1e-12);
    }
  }
}

TEST(Fft, RowsKnowNothingOfEachOther) {
  const Tensor alone = Rfft::call(tensor<double>({1, 2, 3, 4}, {1, 4}));
  const auto beside = values(Rfft::call(tensor<double>({1, 2, 3, 4, NAN, 1e300, 0, 0}, {2, 4})));
  EXPECT_EQ(Numbers(beside.begin(), beside.begin() + 6), values(alone));
}

TEST(Fft, GradientsOfRealNumbers) {
  for (const std::int64_t n : {2, 6, 8}) {
    const Tensor x = testing::random_leaf({2, 5}, 9);
    EXPECT_TRUE(testing::gradcheck_one(
        [n](const TensorList& in) { return Rfft::call(in[0], n, 1, FftNorm::kOrtho); }, {x}));
  }
}

TEST(Fft, GradientsOfHalfASpectrum) {
  for (const std::int64_t n : {2, 5, 6, 8}) {
    const Tensor x = testing::random_leaf({2, 4, 2}, 10);
    const auto back = [n](const TensorList& in) {
      return Irfft::call(ViewAsComplex::call(in[0]), n, 1, FftNorm::kForward);
    };
    EXPECT_TRUE(testing::gradcheck_one(back, {x}));
  }
}

// Powers of two and four, small odd factors, their products, primes beyond the largest factor.
INSTANTIATE_TEST_SUITE_P(Fft, FftSizes,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 30, 31, 32, 37, 49,
                                           60, 64, 74, 97, 100, 128, 211, 1000, 1024));

// torch.fft of [1, 2, 3, 4].
TEST(Fft, HasPyTorchsNumbers) {
  const Tensor x = tensor<double>({1, 2, 3, 4});
  EXPECT_EQ(values(Fft::call(x)), (Numbers{10, 0, -2, 2, -2, 0, -2, -2}));
  EXPECT_EQ(values(Rfft::call(x)), (Numbers{10, 0, -2, 2, -2, 0}));
  EXPECT_EQ(values(Ifft::call(x)), (Numbers{2.5, 0, -0.5, -0.5, -0.5, 0, -0.5, 0.5}));
  EXPECT_EQ(values(Fft::call(x, 2)), (Numbers{3, 0, -1, 0}));
  EXPECT_EQ(Irfft::call(Rfft::call(x)).shape(), Shape{4});
}

TEST(Fft, KeepsThePrecisionOfItsInput) {
  EXPECT_EQ(Fft::call(testing::full({4}, 1, DType::kFloat32)).dtype(), DType::kComplex64);
  EXPECT_EQ(Fft::call(testing::full({4}, 1, DType::kInt64)).dtype(), DType::kComplex64);
  EXPECT_EQ(Rfft::call(testing::full({4}, 1, DType::kFloat64)).dtype(), DType::kComplex128);
  EXPECT_EQ(Irfft::call(testing::full({4}, 1, DType::kComplex64)).dtype(), DType::kFloat32);
}

TEST(Fft, GradientsThroughALargePrime) {
  const Tensor x = testing::random_leaf({37}, 8);
  EXPECT_TRUE(testing::gradcheck_one([](const TensorList& in) { return Rfft::call(in[0]); }, {x}));
}

TEST(Fft, RefusesWhatItCannotTransform) {
  const Tensor z = testing::full({4}, 1, DType::kComplex64);
  expect_error(ErrorCode::kDtypeMismatch, "expected a real input, got complex64",
               [&] { Rfft::call(z); });
  expect_error(ErrorCode::kInvalidArgument, "must be at least 1, got 0", [&] { Fft::call(z, 0); });
  expect_error(ErrorCode::kInvalidArgument, "must be at least 1, got 0",
               [&] { Irfft::call(testing::full({1}, 1, DType::kComplex64)); });
  expect_error(ErrorCode::kIndexOutOfRange, "[fft]", [&] { Fft::call(z, {}, 1); });
  expect_error(ErrorCode::kIndexOutOfRange, "a 0-dim tensor has no dimension -1",
               [&] { Fft::call(testing::full({}, 1, DType::kFloat32)); });
}

}  // namespace
}  // namespace eg
