// In-place operations, views and saved tensors: sections 1.H and 1.I of PyTorch's rules.

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add_;
using testing::clone;
using testing::expect_error;
using testing::leaf;
using testing::mul_;
using testing::narrow;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;

// rule: inplace-on-view
TEST(InPlaceOnView, ChangesTheHistoryOfTheBase) {
  const Tensor root = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor x = clone(root);
  const Tensor v = narrow(x, 0, 0, 1);
  mul_(v, 2);
  backward({sum(x)});
  EXPECT_EQ(grad_fn(x)->name(), "CopySlices");
  EXPECT_EQ(values(grad(root)), (Values{2, 2, 1, 1}));
}

// rule: views-see-changes, view-history-on-demand
TEST(InPlaceOnView, OtherViewsSeeItWhenTheirHistoryIsAskedFor) {
  const Tensor root = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor x = clone(root);
  const Tensor first = narrow(x, 0, 0, 1);
  const Tensor overlapping = narrow(x, 1, 0, 1);
  mul_(first, 3);
  EXPECT_EQ(grad_fn(overlapping)->name(), "AsStridedBackward0");
  backward({sum(overlapping)});
  EXPECT_EQ(values(grad(root)), (Values{3, 0, 1, 0}));
}

// rule: inplace-requires-grad
TEST(InPlaceOnView, AChangeByARequiringTensorMakesTheBaseRequireGrad) {
  const Tensor a = tensor({2, 5});
  const Tensor b = leaf(3);
  const Tensor r = mul_(narrow(a, 0, 1, 1), b);
  EXPECT_TRUE(requires_grad(a));
  backward({sum(r)});
  EXPECT_EQ(values(grad(b)), Values{5});
  EXPECT_EQ(values(a), (Values{2, 15}));
  EXPECT_FALSE(grad(a).defined());
}

// rule: assignment-cuts-history, version-per-change
TEST(InPlaceOnView, AssignmentCutsTheOldValuesOff) {
  const Tensor x = leaf({1, 1, 1, 1}, {2, 2});
  const Tensor y = call<op::Add>(x, 2);
  const std::uint32_t version = y.version();
  FillInPlace::call(narrow(y, 0, 1, 1), 2);
  EXPECT_EQ(y.version(), version + 1);
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), (Values{1, 1, 0, 0}));
}

// rule: earlier-views-require-grad
TEST(InPlaceOnView, AChangedBaseReachesEarlierViews) {
  const Tensor r = leaf(1);
  const Tensor x = tensor({1, 1, 1});
  const Tensor v = narrow(x, 0, 1, 1);
  EXPECT_FALSE(requires_grad(v));
  add_(x, r);
  EXPECT_TRUE(requires_grad(v));
  backward({sum(v)});
  EXPECT_EQ(value(grad(r)), 1);
}

// rule: slice-not-shared
TEST(InPlaceOnView, DifferentiatesTwice) {
  const Tensor root = leaf<double>({1, 2, 3});
  const Tensor x = clone(root);
  const Tensor v = narrow(x, 0, 0, 2);
  mul_(v, clone(v));
  const Tensor y = sum(call<op::Mul>(x, x));
  const Tensor g = grad({y}, {root}, {}, {{.create_graph = true}})[0];
  EXPECT_EQ(values(g), (Values{4, 32, 6}));
  EXPECT_EQ(values(grad({sum(g)}, {root})[0]), (Values{12, 48, 2}));
}

// rule: leaf-inplace-error
TEST(InPlace, IsRefusedOnALeafThatRequiresGradAndItsViews) {
  const Tensor x = leaf({1, 2});
  expect_error(ErrorCode::kLeafInPlace,
               "a leaf that requires a gradient cannot be changed in place", [&] { add_(x, 1); });
  const Tensor v = narrow(x, 0, 0, 1);
  expect_error(ErrorCode::kLeafInPlace,
               "a view of a leaf that requires a gradient cannot be changed in place",
               [&] { add_(v, 1); });
  EXPECT_EQ(values(x), (Values{1, 2}));
  const NoGradGuard guard;
  add_(x, 1);
  EXPECT_EQ(values(x), (Values{2, 3}));
  EXPECT_EQ(x.version(), 1U);
}

// rule: no-grad-view, view-inplace-error
TEST(InPlace, IsRefusedOnAViewMadeUnderNoGrad) {
  const Tensor x = clone(leaf({1, 2}));
  Tensor v;
  {
    const NoGradGuard guard;
    v = narrow(x, 0, 0, 1);
  }
  EXPECT_TRUE(requires_grad(v));
  expect_error(ErrorCode::kViewInPlace, "a view made in noGrad() cannot be changed in place",
               [&] { add_(v, 1); });
}

// rule: unread-values-may-change, saved-checked
TEST(SavedTensors, AnOverwrittenValueIsRefusedOnlyIfItWasSaved) {
  const Tensor x = leaf({1, 2});
  const Tensor y = call<op::Mul>(x, 2);
  const Tensor z = call<op::Add>(y, 1);
  const Tensor saved = call<op::Mul>(y, y);
  add_(y, 1);
  backward({sum(z)});
  EXPECT_EQ(values(grad(x)), (Values{2, 2}));
  expect_error(ErrorCode::kModifiedInPlace,
               "a float32 tensor of shape [2] (output 0 of AddBackward0) that backward needs was "
               "changed in place: it is at version 1, but was saved at version 0",
               [&] { backward({sum(saved)}); });
}

// rule: saved-checked, no-grad-counts-versions
TEST(SavedTensors, ALeafChangedUnderNoGradIsNoticed) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor z = sum(call<op::Mul>(x, y));
  {
    const NoGradGuard guard;
    mul_(x, 2);
  }
  expect_error(ErrorCode::kModifiedInPlace,
               "a float32 tensor of shape [2] that backward needs was changed in place: it is at "
               "version 1, but was saved at version 0",
               [&] { backward({z}); });
}

// rule: version-shared, saved-checked
TEST(SavedTensors, DetachSharesTheVersionCounter) {
  const Tensor x = clone(leaf({1, 2}));
  const Tensor y = call<op::Mul>(x, x);
  add_(detach(x), 1);
  EXPECT_EQ(x.version(), 1U);
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { backward({sum(y)}); });
}

// rule: inplace-continues-history, inplace-saves-old-value
TEST(InPlace, KeepsTheOldValueWhenBackwardNeedsIt) {
  const Tensor a = leaf({2, 3});
  const Tensor b = leaf({5, 7});
  const Tensor x = clone(a);
  mul_(x, b);
  backward({sum(x)});
  EXPECT_EQ(values(grad(a)), (Values{5, 7}));
  EXPECT_EQ(values(grad(b)), (Values{2, 3}));
}

TEST(InPlace, SavesItsResultWhenTheFormulaReadsIt) {
  const Tensor a = leaf<double>({0.5, 1});
  const Tensor x = clone(a);
  call_in_place<op::Exp>(x);
  backward({sum(x)});
  EXPECT_NEAR(values(grad(a))[1], 2.718281828459045, 1e-12);
}

TEST(InPlace, RefusesShapesAndDtypesThatDoNotFit) {
  const Tensor x = tensor({1, 2});
  expect_error(ErrorCode::kShapeMismatch, "shape [2, 2] cannot be written in place",
               [&] { add_(x, tensor({1, 2, 3, 4}, {2, 2})); });
  const Tensor n = tensor<std::int64_t>({1, 2});
  expect_error(ErrorCode::kDtypeMismatch, "cannot be written in place to a tensor of int64",
               [&] { add_(n, 0.5); });
  EXPECT_EQ(values(n), (Values{1, 2}));
}

// rule: as-strided-sums
TEST(AsStrided, SumsTheGradientsOfOverlappingElements) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor windows = AsStrided::call(x, {3, 2}, {1, 1}, 0);
  backward({sum(windows)});
  EXPECT_EQ(values(grad(x)), (Values{1, 2, 2, 1}));
}

}  // namespace
}  // namespace eg
