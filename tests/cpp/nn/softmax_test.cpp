// markers: variant

#include "ops/nn/softmax.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/special_values.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::gradcheck_one;
using testing::random_leaf;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

using testing::kInfinity;

// From the definition, for any dim.
Values softmax_by_hand(const Tensor& x, std::size_t dim, bool log) {
  const Values in = values(x);
  const auto size = static_cast<std::size_t>(x.shape()[dim]);
  std::size_t inner = 1;
  for (std::size_t d = dim + 1; d < x.shape().size(); ++d)
    inner *= static_cast<std::size_t>(x.shape()[d]);
  Values out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t first = i / (size * inner) * size * inner + i % inner;
    double sum = 0;
    for (std::size_t c = 0; c < size; ++c) sum += std::exp(in[first + c * inner]);
    out[i] = log ? in[i] - std::log(sum) : std::exp(in[i]) / sum;
  }
  return out;
}

TEST(Softmax, IsTheDefinitionAlongEveryDim) {
  // Sizes around those of vectors, blocks and strips, in both dtypes.
  for (const Shape& shape :
       {Shape{3, 4}, Shape{2, 7, 5}, Shape{5, 3, 67}, Shape{2, 601}, Shape{1, 1}}) {
    const Tensor x = random_leaf(shape, 4);
    const Tensor narrow = ToDType::call(x, DType::kFloat32);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto dim = static_cast<std::int64_t>(d);
      expect_near(values(Softmax::call(x, dim)), softmax_by_hand(x, d, false), 1e-12);
      expect_near(values(LogSoftmax::call(x, dim)), softmax_by_hand(x, d, true), 1e-12);
      expect_near(values(Softmax::call(narrow, dim)), softmax_by_hand(narrow, d, false), 1e-6);
      expect_near(values(LogSoftmax::call(narrow, dim)), softmax_by_hand(narrow, d, true), 2e-6);
    }
  }
}

TEST(Softmax, ReadsAnyStrides) {
  const Tensor view = Transpose::call(random_leaf({3, 4}, 1), 0, 1);
  expect_near(values(Softmax::call(view, 0)),
              softmax_by_hand(contiguous_copy(detach(view)), 0, false), 1e-12);
}

TEST(Softmax, SurvivesExtremeInputs) {
  expect_near(values(Softmax::call(tensor({1000, 1000, -1000}), 0)), {0.5, 0.5, 0}, 0);
  expect_near(values(Softmax::call(tensor<double>({-kInfinity, 0}), 0)), {0, 1}, 0);
  expect_near(values(LogSoftmax::call(tensor<double>({1e30, 0}), 0)), {0, -1e30}, 0);
  EXPECT_TRUE(std::isnan(value(Softmax::call(tensor<double>({-kInfinity, -kInfinity}), 0))));
  EXPECT_EQ(values(LogSoftmax::call(tensor<double>({0, -kInfinity}), 0))[1], -kInfinity);
}

TEST(Softmax, FindsTheLargestAndNaNAtEveryPlace) {
  // Lengths around those of vectors, and of the vectors that are compared side by side.
  for (const std::int64_t length : {1, 3, 4, 5, 15, 16, 17, 35}) {
    for (std::int64_t place = 0; place < length; ++place) {
      Values scores(static_cast<std::size_t>(length), -1000);
      const auto at = static_cast<std::size_t>(place);
      const auto results = [&](auto op, DType dtype) {
        return values(op(ToDType::call(tensor(scores), dtype)));
      };
      const auto softmax = [](const Tensor& x) { return Softmax::call(x, 0); };
      const auto log_softmax = [](const Tensor& x) { return LogSoftmax::call(x, 0); };
      for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
        scores[at] = 1000;
        Values expected(scores.size());
        expected[at] = 1;
        expect_near(results(softmax, dtype), expected, 0);
        EXPECT_EQ(results(log_softmax, dtype)[at], 0);
        scores[at] = testing::kNaN;
        for (const double y : results(softmax, dtype)) EXPECT_TRUE(std::isnan(y)) << place;
        for (const double y : results(log_softmax, dtype)) EXPECT_TRUE(std::isnan(y)) << place;
      }
    }
  }
}

TEST(Softmax, OfEmptyAndZeroDimTensors) {
  EXPECT_EQ(value(Softmax::call(tensor({3}, {}), -1)), 1);
  EXPECT_EQ(value(LogSoftmax::call(tensor({3}, {}), 0)), 0);
  EXPECT_EQ(Softmax::call(testing::empty({0, 3}, DType::kFloat32), 1).shape(), (Shape{0, 3}));
  EXPECT_EQ(Softmax::call(testing::empty({3, 0}, DType::kFloat32), 1).shape(), (Shape{3, 0}));
  EXPECT_EQ(Softmax::call(testing::empty({3, 0}, DType::kFloat32), 0).shape(), (Shape{3, 0}));
}

TEST(Softmax, ComputesInTheDtypeAskedFor) {
  const Tensor x = tensor<std::int32_t>({0, 0});
  EXPECT_EQ(Softmax::call(x, 0, DType::kFloat64).dtype(), DType::kFloat64);
  expect_error(ErrorCode::kDtypeMismatch, "[softmax] not implemented for int32",
               [&] { Softmax::call(x, 0); });
  expect_error(ErrorCode::kIndexOutOfRange, "[logSoftmax] dimension 1 is out of range",
               [] { LogSoftmax::call(tensor({1, 2}), 1); });
}

TEST(Softmax, DerivativesAreRight) {
  for (const std::int64_t dim : {0, 1, 2}) {
    const Tensor x = random_leaf({2, 3, 5}, 6);
    EXPECT_TRUE(
        gradcheck_one([&](const TensorList& in) { return Softmax::call(in[0], dim); }, {x}));
    EXPECT_TRUE(
        gradcheck_one([&](const TensorList& in) { return LogSoftmax::call(in[0], dim); }, {x}));
    EXPECT_TRUE(
        gradcheck_one([&](const TensorList& in) { return Softmin::call(in[0], dim); }, {x}));
  }
}

TEST(Softmax, ItsOutputMustNotChangeBeforeBackward) {
  const Tensor x = random_leaf({3}, 1);
  const Tensor y = Softmax::call(x, 0);
  ZeroInPlace::call(detach(y));
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { grad({testing::sum(y)}, {x}); });
}

TEST(Softmin, PrefersTheSmallest) {
  expect_near(values(Softmin::call(tensor<double>({0, std::log(3.0)}), 0)), {0.75, 0.25}, 1e-12);
}

}  // namespace
}  // namespace eg
