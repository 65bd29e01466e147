// markers: threads

#include "ops/nn/norm.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::expect_near;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::tensor;
using testing::values;

TEST(NormOps, LayerNormHasMeanZeroAndVarianceOne) {
  // Mean 2.5, variance 1.25.
  const double scale = 1 / std::sqrt(1.25 + 1e-5);
  expect_near(LayerNorm::call(tensor({1, 2, 3, 4}, {1, 4}), {4}),
              {-1.5 * scale, -0.5 * scale, 0.5 * scale, 1.5 * scale}, 1e-6);
  const Tensor out =
      LayerNorm::call(tensor<double>({1, 2, 3, 4}), {4}, tensor<double>({1, 2, 3, 4}),
                      tensor<double>({1, 1, 1, 10}), 0.75);
  const double wide = 1 / std::sqrt(2.0);
  expect_near(out, {1 - 1.5 * wide, 1 - wide, 1 + 1.5 * wide, 10 + 6 * wide}, 1e-14);
}

TEST(NormOps, NormalizesOverSeveralDims) {
  const Tensor x = random_leaf({3, 2, 5}, 1);
  const Tensor flat = detach(x).alias({3, 10}, {10, 1}, 0);
  EXPECT_EQ(values(LayerNorm::call(x, {2, 5})), values(LayerNorm::call(flat, {10})));
  EXPECT_EQ(values(RmsNorm::call(x, {2, 5})), values(RmsNorm::call(flat, {10})));
}

TEST(NormOps, RmsNormDividesByTheRootMeanSquare) {
  expect_near(RmsNorm::call(tensor<double>({3, 4}), {2}, tensor<double>({1, 10}), 0.0),
              {3 / std::sqrt(12.5), 40 / std::sqrt(12.5)}, 1e-14);
  // The default eps is the smallest step of the dtype at 1.
  expect_near(RmsNorm::call(tensor({1e-4F, 1e-4F}), {2}),
              std::vector<double>(2, 1e-4 / std::sqrt(1e-8 + 1.1920929e-7)), 1e-6);
}

TEST(NormOps, LargeOffsetsDoNotSpoilTheVariance) {
  std::vector<float> x(1001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 10000.0F + static_cast<float>(i % 2);
  const std::vector<double> out = values(LayerNorm::call(tensor(x), {1001}));
  EXPECT_NEAR(out[0], -1, 2e-3);
  EXPECT_NEAR(out[1], 1, 2e-3);
}

TEST(NormOps, StridedAndEmptyInputsWork) {
  const Tensor block = random_leaf({6, 4}, 2);
  const Tensor swapped = detach(block).alias({4, 6}, {1, 4}, 0);
  EXPECT_EQ(values(LayerNorm::call(swapped, {6})),
            values(LayerNorm::call(contiguous_copy(swapped), {6})));
  EXPECT_EQ(LayerNorm::call(testing::empty({0, 4}, DType::kFloat32), {4}).shape(), (Shape{0, 4}));
  EXPECT_EQ(LayerNorm::call(testing::empty({3, 0}, DType::kFloat32), {0}).shape(), (Shape{3, 0}));
  // No rows: the parameters' gradients are zero, not undefined.
  const Tensor weight = leaf({1, 2});
  const Tensor out = LayerNorm::call(testing::empty({0, 2}, DType::kFloat32), {2}, weight);
  backward({out}, {testing::empty({0, 2}, DType::kFloat32)});
  EXPECT_EQ(values(grad(weight)), (std::vector<double>{0, 0}));
}

TEST(NormOps, GradientsAgreeWithDifferences) {
  const auto layer_norm = [](const TensorList& in) {
    return LayerNorm::call(in[0], {3, 4}, in.size() > 1 ? std::optional(in[1]) : std::nullopt,
                           in.size() > 2 ? std::optional(in[2]) : std::nullopt);
  };
  const Tensor x = random_leaf({2, 3, 4}, 1);
  const Tensor weight = random_leaf({3, 4}, 2);
  EXPECT_TRUE(gradcheck_one(layer_norm, {x}));
  EXPECT_TRUE(gradcheck_one(layer_norm, {x, weight}));
  EXPECT_TRUE(gradcheck_one(layer_norm, {x, weight, random_leaf({3, 4}, 3)}));
  EXPECT_TRUE(gradcheck_one(layer_norm, {detach(x), weight, random_leaf({3, 4}, 3)}));
  const auto rms_norm = [](const TensorList& in) {
    return RmsNorm::call(in[0], {5}, in.size() > 1 ? std::optional(in[1]) : std::nullopt, 0.1);
  };
  EXPECT_TRUE(gradcheck_one(rms_norm, {random_leaf({3, 5}, 4)}));
  EXPECT_TRUE(gradcheck_one(rms_norm, {random_leaf({3, 5}, 4), random_leaf({5}, 5)}));
}

TEST(NormOps, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto run = [] {
    const Tensor x = testing::generated<float>(
        {700, 130}, [](std::int64_t i) { return std::sin(static_cast<float>(i)); });
    set_requires_grad(x, true);
    const Tensor weight = leaf(std::vector<float>(130, 0.7F));
    const Tensor bias = leaf(std::vector<float>(130, 0.1F));
    const Tensor out = LayerNorm::call(x, {130}, weight, bias);
    backward({out}, {detach(x)});
    return std::vector{values(out), values(grad(x)), values(grad(weight)), values(grad(bias))};
  };
  const auto alone = run();
  set_num_threads(4);
  const auto shared = run();
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

TEST(NormOps, LayerNormIsRecordedAsPyTorchRecordsIt) {
  EXPECT_EQ(grad_fn(LayerNorm::call(leaf({1, 2}), {2}))->name(), "NativeLayerNormBackward0");
}

TEST(NormOps, MistakesAreNamed) {
  const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  expect_error(ErrorCode::kShapeMismatch, "normalizedShape must have at least one size",
               [&] { LayerNorm::call(x, {}); });
  expect_error(ErrorCode::kShapeMismatch, "normalizedShape, [4], got shape [2, 3]",
               [&] { LayerNorm::call(x, {4}); });
  expect_error(ErrorCode::kShapeMismatch, "normalizedShape, [1, 2, 3], got shape [2, 3]",
               [&] { RmsNorm::call(x, {1, 2, 3}); });
  expect_error(ErrorCode::kShapeMismatch,
               "weight must have the shape normalizedShape, [3], got [2]",
               [&] { LayerNorm::call(x, {3}, tensor({1, 2})); });
  expect_error(ErrorCode::kDtypeMismatch, "bias must be float32 like input, got float64",
               [&] { LayerNorm::call(x, {3}, std::nullopt, tensor<double>({1, 2, 3})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected float32 or float64, got int64",
               [&] { LayerNorm::call(tensor<std::int64_t>({1, 2}), {2}); });
}

}  // namespace
}  // namespace eg
