#include "ops/nn/attention.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::leaf;
using testing::tensor;
using testing::values;

TEST(Attention, WeighsValuesByTheSoftmaxOfScores) {
  const Tensor q = tensor({2, 0, 0, 0}, {1, 4});
  const Tensor k = tensor({std::log(3.0F), 0, 0, 0, 0, 0, 0, 0}, {2, 4});
  const Tensor v = tensor({1, 5}, {2, 1});
  // Scores log(3) and 0.
  expect_near(ScaledDotProductAttention::call(q, k, v), {2});
  expect_near(ScaledDotProductAttention::call(q, k, v, {}, 0, false, 0.0), {3});
  expect_near(ScaledDotProductAttention::call(q, k, v, tensor({0, std::log(3.0F)}, {1, 2})), {3});
}

TEST(Attention, CausalRowsSeeNothingLater) {
  const Tensor x = tensor({1, 2, 3}, {3, 1});
  const std::vector<double> out =
      values(ScaledDotProductAttention::call(x, x, x, {}, 0, true, 0.0));
  EXPECT_NEAR(out[0], 1, 1e-6);
  EXPECT_NEAR(out[1], 1.5, 1e-6);
  EXPECT_NEAR(out[2], 2, 1e-6);
}

TEST(Attention, ARowThatMayAttendToNothingIsZeroWithAGradientOfZero) {
  const Tensor q = leaf({1, 2}, {2, 1});
  const Tensor mask = testing::generated<bool>({2, 2}, [](std::int64_t i) { return i >= 2; });
  const Tensor k = tensor({1, 3}, {2, 1});
  const Tensor out = ScaledDotProductAttention::call(q, k, k, mask);
  EXPECT_EQ(values(out)[0], 0);
  backward({testing::sum(out)});
  EXPECT_EQ(values(grad(q))[0], 0);
  EXPECT_NE(values(grad(q))[1], 0);
}

TEST(Attention, MistakesAreNamed) {
  const Tensor x = tensor({1, 2, 3}, {3, 1});
  expect_error(ErrorCode::kInvalidArgument, "attnMask and isCausal",
               [&] { ScaledDotProductAttention::call(x, x, x, x, 0, true); });
  expect_error(ErrorCode::kShapeMismatch, "at least 2 dimensions, got 1, 2 and 2",
               [&] { ScaledDotProductAttention::call(tensor({1}), x, x); });
  expect_error(ErrorCode::kDtypeMismatch,
               "must have the same dtype, got float64, float32 and float32",
               [&] { ScaledDotProductAttention::call(tensor<double>({1}, {1, 1}), x, x); });
}

}  // namespace
}  // namespace eg
