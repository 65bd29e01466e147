// markers: threads

// Grad modes and inference mode.

#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "dispatch/factories.h"
#include "support/errors.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::narrow;
using testing::sum;
using testing::tensor;
using testing::values;
using testing::view_as_self;
using Values = std::vector<double>;

Tensor inference_leaf(const std::vector<float>& values) {
  const InferenceModeGuard guard;
  return leaf(values);
}

// rule: no-grad-results, root-requires-grad
TEST(NoGrad, ResultsAreLeavesThatNeedNoGradient) {
  const Tensor x = leaf({1, 2});
  Tensor w;
  {
    const NoGradGuard guard;
    w = add(x, 1);
  }
  EXPECT_FALSE(requires_grad(w));
  EXPECT_EQ(grad_fn(w), nullptr);
  EXPECT_TRUE(is_leaf(w));
  expect_error(ErrorCode::kNoGradPath, "does not require a gradient", [&] { backward({sum(w)}); });
}

#if EG_THREADS
// rule: enable-grad, mode-restored, no-grad-factories, modes-per-thread, grad-mode-default
TEST(GradMode, NestsAndIsPerThread) {
  const Tensor x = leaf({1, 2});
  const NoGradGuard no_grad;
  EXPECT_TRUE(requires_grad(leaf(1)));
  {
    const EnableGradGuard enable;
    EXPECT_TRUE(requires_grad(mul(x, 2)));
    EXPECT_THROW(
        {
          const NoGradGuard inner;
          throw std::domain_error("");
        },
        std::domain_error);
    EXPECT_TRUE(is_grad_enabled());
  }
  EXPECT_FALSE(is_grad_enabled());
  bool other_thread = false;
  std::thread([&] { other_thread = is_grad_enabled() && !is_inference_mode_enabled(); }).join();
  EXPECT_TRUE(other_thread);
}
#endif

// rule: inference-tensors, inference-requires-grad, inference-mode-off
TEST(InferenceMode, NewTensorsAndTheirViewsAreInferenceTensors) {
  EXPECT_FALSE(is_inference_mode_enabled());
  const InferenceModeGuard guard;
  EXPECT_TRUE(is_inference_mode_enabled());
  EXPECT_FALSE(is_grad_enabled());
  const Tensor c = tensor({1, 2});
  const Tensor d = leaf({1, 2});
  const Tensor v = view_as_self(c);
  const Tensor f = mul(d, d);
  for (const Tensor& t : {c, d, v, f, clone(c), detach(c)}) EXPECT_TRUE(is_inference(t));
  EXPECT_TRUE(requires_grad(d));
  EXPECT_FALSE(requires_grad(f));
  EXPECT_FALSE(is_view(v));
  {
    const InferenceModeGuard normal(false);
    EXPECT_FALSE(is_inference_mode_enabled());
    EXPECT_TRUE(is_grad_enabled());
    EXPECT_FALSE(is_inference(tensor({1})));
  }
  EXPECT_TRUE(is_inference_mode_enabled());
}

// rule: inference-records-nothing
TEST(InferenceMode, RecordsNothingEvenWithGradModeOn) {
  const Tensor x = leaf({1, 2});
  const InferenceModeGuard guard;
  const EnableGradGuard enable;
  EXPECT_FALSE(requires_grad(mul(x, x)));
}

// rule: inference-no-version
TEST(InferenceTensors, HaveNoVersion) {
  const Tensor c = inference_leaf({1, 2});
  expect_error(ErrorCode::kInferenceTensor, "inference tensors have no version counter",
               [&] { (void)c.version(); });
}

// rule: inference-changed-inside-only
TEST(InferenceTensors, AreNotChangedInNormalMode) {
  const Tensor c = inference_leaf({1, 2});
  expect_error(ErrorCode::kInferenceTensor,
               "an inference tensor cannot be changed in place outside inferenceMode()",
               [&] { add_(c, 1); });
  expect_error(ErrorCode::kInferenceTensor, "an inference tensor cannot be changed in place",
               [&] { ZeroInPlace::call(view_as_self(c)); });
  EXPECT_EQ(values(c), (Values{1, 2}));
  const InferenceModeGuard guard;
  add_(c, 1);
  EXPECT_EQ(values(c), (Values{2, 3}));
}

// rule: inference-requires-grad
TEST(InferenceTensors, DoNotStartToRequireGradInNormalMode) {
  Tensor c;
  {
    const InferenceModeGuard guard;
    c = tensor({1, 2});
  }
  expect_error(ErrorCode::kInferenceTensor,
               "an inference tensor cannot require gradients outside inferenceMode()",
               [&] { set_requires_grad(c, true); });
  set_requires_grad(c, false);
}

// rule: inference-in-graphs, inference-not-saved
TEST(InferenceTensors, TakePartInOpsThatDoNotSaveThem) {
  const Tensor c = inference_leaf({1, 2});
  const Tensor s = leaf({3, 4});
  backward({sum(add(c, s))});
  EXPECT_EQ(values(grad(c)), (Values{1, 1}));
  EXPECT_EQ(values(grad(s)), (Values{1, 1}));
  expect_error(ErrorCode::kInferenceTensor, "an inference tensor cannot be saved for backward",
               [&] { (void)mul(c, s); });
  // Multiplied by an operand that needs no gradient, the inference tensor is not saved.
  EXPECT_TRUE(requires_grad(mul(c, tensor({1, 2}))));
}

// rule: inference-results-normal
TEST(InferenceTensors, AreNotDifferentiatedAlone) {
  const Tensor c = inference_leaf({1, 2});
  for (const Tensor& t : {mul(c, c), add(c, 1), sum(c)}) {
    EXPECT_FALSE(is_inference(t));
    EXPECT_FALSE(requires_grad(t));
  }
  const Tensor v = view_as_self(c);
  EXPECT_TRUE(is_inference(v));
  EXPECT_FALSE(is_view(v));
  EXPECT_FALSE(requires_grad(v));
}

// rule: normal-tensor-in-inference
TEST(InferenceMode, AChangeOfANormalTensorStillCounts) {
  const Tensor x = leaf({1, 2});
  const Tensor a = clone(x);
  const Tensor y = mul(a, a);
  {
    const InferenceModeGuard guard;
    add_(a, 1);
    EXPECT_FALSE(is_inference(a));
  }
  EXPECT_EQ(a.version(), 1U);
  expect_error(ErrorCode::kModifiedInPlace, "is at version 1, but was saved at version 0",
               [&] { backward({sum(y)}); });
}

// rule: backward-in-inference
TEST(InferenceMode, RunsBackwardOfAGraphMadeBefore) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(call<op::Exp>(x), x));
  {
    const InferenceModeGuard guard;
    backward({y});
    EXPECT_TRUE(is_inference(grad(x)));
  }
  EXPECT_NEAR(values(grad(x))[0], 2 * std::exp(1.0), 1e-5);
}

// rule: inference-view-restricted, restricted-view-stale
TEST(InferenceMode, AViewOfANormalTensorIsRestricted) {
  const Tensor a = clone(leaf({1, 2}));
  Tensor v;
  {
    const InferenceModeGuard guard;
    v = view_as_self(a);
  }
  EXPECT_FALSE(is_inference(v));
  EXPECT_TRUE(is_view(v));
  expect_error(ErrorCode::kViewInPlace, "a view made in inferenceMode() cannot be changed in place",
               [&] { add_(v, 2); });
  add_(a, 2);
  expect_error(ErrorCode::kViewInPlace,
               "a view made in inferenceMode() cannot be used after its base or another view of it "
               "was changed",
               [&] { (void)grad_fn(v); });
}

// rule: restriction-needs-gradient
TEST(InferenceMode, AViewOfWhatNeedsNoGradientIsFree) {
  const Tensor a = tensor({1, 2});
  Tensor v;
  {
    const InferenceModeGuard guard;
    v = view_as_self(a);
  }
  add_(v, 2);
  EXPECT_EQ(values(a), (Values{3, 4}));
  EXPECT_EQ(grad_fn(v), nullptr);
}

// rule: restriction-inherited
TEST(InferenceMode, AViewOfARestrictedViewIsRestricted) {
  const Tensor a = clone(leaf({1, 2}));
  Tensor v;
  {
    const InferenceModeGuard guard;
    v = view_as_self(a);
  }
  const Tensor w = narrow(v, 0, 0, 1);
  expect_error(ErrorCode::kViewInPlace,
               "output 0 of SliceBackward0, a view of one made in inferenceMode(), cannot be "
               "changed in place",
               [&] { add_(w, 2); });
}

// rule: requires-grad-of-leaves, requires-grad-floats-only
TEST(RequiresGrad, IsSetOnLeavesOfFloatsOnly) {
  const Tensor y = mul(leaf({1, 2}), 2);
  expect_error(ErrorCode::kInvalidArgument,
               "[requiresGrad_] cannot be set to false on the result of a recorded operation",
               [&] { set_requires_grad(y, false); });
  set_requires_grad(y, true);
  expect_error(ErrorCode::kNotDifferentiable,
               "only floating-point and complex tensors can require gradients",
               [&] { set_requires_grad(tensor<std::int64_t>({1}), true); });
}

// rule: frozen-after-recording
TEST(RequiresGrad, ALeafFrozenAfterRecordingReceivesNothing) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(mul(x, 2));
  set_requires_grad(x, false);
  backward({y});
  EXPECT_FALSE(grad(x).defined());
}

}  // namespace
}  // namespace eg
