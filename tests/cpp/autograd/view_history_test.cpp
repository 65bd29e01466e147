// Restricted views, detach, and the effect of in-place changes on the histories and hooks of views.

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/graphs.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::copy_;
using testing::expect_error;
using testing::FunctionalHook;
using testing::FunctionalNode;
using testing::leaf;
using testing::mul;
using testing::mul_;
using testing::narrow;
using testing::select;
using testing::sum;
using testing::tensor;
using testing::value;
using testing::values;
using testing::view_as_self;
using Values = std::vector<double>;

constexpr const char* kMultiOutput = " It is one of several views";
constexpr const char* kNoGrad = " Make the view and the change both inside noGrad()";

Tensor no_grad_view(const Tensor& t) {
  const NoGradGuard guard;
  return view_as_self(t);
}

// rule: multi-output-views, restricted-view-stale
TEST(RestrictedViews, OfMultiOutputFunctionsAreNotChanged) {
  const Tensor x = clone(leaf({1, 2, 3, 4}, {2, 2}));
  expect_error(ErrorCode::kViewInPlace,
               std::string("output 0 of UnbindBackward0, a view, cannot be changed in place.") +
                   kMultiOutput,
               [&] { mul_(Unbind::call(x)[0], 2); });
  expect_error(
      ErrorCode::kViewInPlace,
      std::string("output 1 of SplitBackward0, a view, cannot be changed in place.") + kMultiOutput,
      [&] { mul_(Split::call(x, {1})[1], 2); });
  expect_error(ErrorCode::kViewInPlace, kMultiOutput, [&] { mul_(Chunk::call(x, 2)[1], 2); });
  const Tensor part = Unbind::call(x)[0];
  add_(x, 1);
  expect_error(ErrorCode::kViewInPlace,
               std::string("output 0 of UnbindBackward0, a view, cannot be used after its base or "
                           "another view of it was changed in place.") +
                   kMultiOutput,
               [&] { (void)grad_fn(part); });
}

// rule: restriction-needs-gradient
TEST(RestrictedViews, AreFreeWithoutGradients) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  mul_(Unbind::call(x)[0], 2);
  EXPECT_EQ(values(x), (Values{2, 4, 3, 4}));
  const Tensor y = clone(leaf({1, 2}));
  const Tensor part = Unbind::call(y)[0];
  const NoGradGuard guard;
  mul_(part, 2);
  EXPECT_EQ(values(y), (Values{2, 2}));
}

// rule: view-inplace-error, no-grad-view, restriction-inherited, restricted-view-stale
TEST(RestrictedViews, OfNoGradAreNamedAsSuchAndPassItOn) {
  const Tensor x = clone(leaf({1, 2}));
  const Tensor v = no_grad_view(x);
  EXPECT_TRUE(requires_grad(v));
  EXPECT_EQ(grad_fn(v), nullptr);
  expect_error(ErrorCode::kViewInPlace,
               std::string("a view made in noGrad() cannot be changed in place.") + kNoGrad,
               [&] { mul_(v, 2); });
  expect_error(ErrorCode::kViewInPlace,
               std::string("output 0 of ViewBackward0, a view of one made in noGrad(), cannot be "
                           "changed in place.") +
                   kNoGrad,
               [&] { mul_(view_as_self(v), 2); });
  add_(x, 1);
  expect_error(ErrorCode::kViewInPlace,
               std::string("a view made in noGrad() cannot be used after its base or another view "
                           "of it was changed in place.") +
                   kNoGrad,
               [&] { (void)grad_fn(v); });
}

// rule: restriction-inherited
TEST(RestrictedViews, AViewOfAMultiOutputViewIsRestrictedToo) {
  const Tensor x = clone(leaf({1, 2, 3, 4}, {2, 2}));
  const Tensor v = view_as_self(Unbind::call(x)[0]);
  expect_error(
      ErrorCode::kViewInPlace,
      std::string("output 0 of ViewBackward0, a view, cannot be changed in place.") + kMultiOutput,
      [&] { mul_(v, 2); });
}

// rule: leaf-inplace-error
TEST(InPlaceOnLeaf, IsRefusedForViewsOfViewsToo) {
  const Tensor x = leaf({1, 2});
  const Tensor v = narrow(view_as_self(x), 0, 0, 1);
  expect_error(ErrorCode::kLeafInPlace,
               "a view of a leaf that requires a gradient cannot be changed in place",
               [&] { add_(v, 1); });
  EXPECT_EQ(x.version(), 0U);
}

// rule: view-base
TEST(Views, HaveTheRootForABase) {
  const Tensor x = tensor({1, 2, 3});
  const Tensor v = narrow(narrow(x, 0, 0, 2), 0, 1, 1);
  EXPECT_TRUE(is_view(v));
  EXPECT_TRUE(view_base(v).is_same(x));
  EXPECT_FALSE(is_view(x));
  EXPECT_FALSE(view_base(x).defined());
}

// rule: view-geometry, slice-not-shared
TEST(InPlaceOnView, OfAnOffsetStridedViewGivesTheRightDerivatives) {
  const Tensor root = testing::random_leaf({4, 5}, 3);
  const Tensor factor = testing::random_leaf({2, 3}, 4);
  EXPECT_TRUE(testing::gradcheck_one(
      [](const TensorList& in) {
        const Tensor x = clone(in[0]);
        const Tensor v = Transpose::call(narrow(narrow(x, 0, 1, 3), 1, 2, 2), 0, 1);
        mul_(v, in[1]);
        call_in_place<op::Sin>(select(v, 0, 1));
        return mul(x, x);
      },
      {root, factor}));
}

// rule: views-see-changes
TEST(InPlaceOnView, OverlappingViewsGiveTheRightDerivatives) {
  EXPECT_TRUE(testing::gradcheck_one(
      [](const TensorList& in) {
        const Tensor x = clone(in[0]);
        const Tensor a = narrow(x, 0, 0, 3);
        const Tensor b = narrow(x, 0, 2, 2);
        mul_(a, 2);
        call_in_place<op::Exp>(b);
        return add(mul(sum(a), sum(b)), sum(mul(x, x)));
      },
      {testing::random_leaf({5}, 5, -1, 1)}));
}

// rule: as-strided-sums
TEST(AsStrided, OfAnOverlappingInputDividesTheGradient) {
  EXPECT_TRUE(testing::gradcheck_one(
      [](const TensorList& in) {
        const Tensor repeated = Expand::call(in[0], {4, 3});
        const Tensor v = AsStrided::call(repeated, {2, 2}, {1, 1}, 0);
        return mul(v, v);
      },
      {testing::random_leaf({1, 3}, 6)}));
}

// A strided view may begin before its input or end after it; elements there do not belong to the
// input.
TEST(AsStrided, MayLeaveItsInput) {
  for (const std::int64_t offset : {0, 1, 4, 5}) {
    const Tensor x = leaf<double>({1, 2, 3, 4, 5, 6, 7, 8});
    const Tensor part = narrow(x, 0, 3, 2);
    const Tensor v = AsStrided::call(part, {3}, {1}, offset);
    const Tensor g = grad({sum(mul(v, v))}, {x}, {}, {{.create_graph = true}})[0];
    Values expected(8);
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t at = offset + i;
      if (at == 3 || at == 4) expected[static_cast<std::size_t>(at)] = 2.0 * double(at + 1);
    }
    EXPECT_EQ(values(g), expected);
    for (double& e : expected) e = e == 0 ? 0 : 4 * e;
    EXPECT_EQ(values(grad({sum(mul(g, g))}, {x})[0]), expected);
  }
}

// rule: assignment-gives-gradient
TEST(InPlaceOnView, RowsAssignedFromDifferentTensors) {
  const Tensor x = tensor(std::vector<float>(9), {3, 3});
  const Tensor y = leaf({1, 2, 3});
  const Tensor z = leaf({4, 5, 6});
  copy_(select(x, 0, 0), y);
  copy_(select(x, 0, 1), mul(z, 2));
  EXPECT_NE(grad_fn(x), nullptr);
  backward({sum(x)});
  EXPECT_EQ(values(grad(y)), (Values{1, 1, 1}));
  EXPECT_EQ(values(grad(z)), (Values{2, 2, 2}));
}

// rule: assignment-gives-gradient
TEST(InPlaceOnView, AssignmentBroadcasts) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = tensor(std::vector<float>(24), {2, 3, 4});
  copy_(select(y, 0, 1), x);
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), (Values{3, 3, 3, 3}));
}

// rule: view-history-on-demand
TEST(InPlaceOnView, AStaleHistoryIsMadeAnewUnderNoGrad) {
  const Tensor x = clone(leaf({1, 2, 3}));
  const Tensor v = narrow(x, 0, 0, 2);
  const Node* before = grad_fn(v).get();
  add_(x, 1);
  const NoGradGuard guard;
  EXPECT_EQ(grad_fn(v)->name(), "AsStridedBackward0");
  EXPECT_NE(grad_fn(v).get(), before);
  EXPECT_EQ(grad_fn(v), grad_fn(v));
  EXPECT_EQ(grad_fn(v)->next_edge(0).function, grad_fn(x));
}

// rule: no-grad-change-no-history
// A change under no_grad alters values, not histories; the view still follows its base.
TEST(InPlaceOnView, ThenNoGrad) {
  const Tensor root = leaf({1, 2, 3});
  const Tensor x = clone(root);
  const Tensor v = narrow(x, 0, 0, 2);
  mul_(v, 3);
  {
    const NoGradGuard guard;
    mul_(v, 100);
  }
  backward({sum(v)});
  EXPECT_EQ(values(grad(root)), (Values{3, 3, 0}));
}

// rule: inplace-on-view-chain
TEST(InPlaceOnView, RepeatedChangesFormAChain) {
  const Tensor root = leaf({1, 2});
  const Tensor x = clone(root);
  const Tensor v = view_as_self(x);
  for (int i = 0; i < 4; ++i) mul_(v, 2);
  EXPECT_EQ(grad_fn(x)->next_edge(0).function->name(), "CopySlices");
  backward({sum(x)});
  EXPECT_EQ(values(grad(root)), (Values{16, 16}));
}

// rule: copy-slices-needed-only
TEST(CopySlices, WorksUnderInputs) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const auto boom = [&] {
    return testing::through(y, [](GradList&&) -> GradList { throw std::domain_error("Boom!"); });
  };
  const auto changed = [&] {
    const Tensor base = clone(x);
    add_(view_as_self(base), boom());
    return sum(base);
  };
  EXPECT_EQ(values(grad({changed()}, {x})[0]), (Values{1, 1}));
  EXPECT_THROW((void)grad({changed()}, {y}), std::domain_error);
}

// rule: copy-slices-needed-only
TEST(CopySlices, SkipsWhatIsNotNeeded) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const Tensor scaled = mul(y, 2);
  bool ran = false;
  register_hook(scaled, std::make_shared<FunctionalHook<TensorPreHook>>([&](const Tensor& g) {
                  ran = true;
                  return g;
                }));
  const Tensor base = clone(x);
  mul_(narrow(base, 0, 0, 1), narrow(scaled, 0, 1, 1));
  EXPECT_EQ(values(grad({sum(base)}, {x})[0]), (Values{8, 1}));
  EXPECT_FALSE(ran);
}

// rule: copy-slices-missing
TEST(CopySlices, TakesAnUndefinedGradientForZero) {
  const Tensor root = leaf({1, 2, 3});
  const Tensor base = clone(root);
  const Tensor v = narrow(base, 0, 0, 2);
  const auto node = make_intrusive<FunctionalNode>(EdgeList{gradient_edge(v)},
                                                   [](GradList&&) { return GradList(1); });
  v.bump_version();
  rebase_history(v, node);
  backward({sum(base)});
  EXPECT_EQ(values(grad(root)), (Values{0, 0, 1}));
}

// rule: copy-slices-runs-once
TEST(CopySlices, RunsOnce) {
  const Tensor root = leaf({1, 2, 3});
  const Tensor x = clone(root);
  add_(narrow(x, 0, 0, 2), 1);
  const Tensor y = sum(x);
  backward({y}, {}, {.retain_graph = true});
  backward({y});
  expect_error(ErrorCode::kGraphFreed, "Pass retainGraph: true", [&] { backward({y}); });
}

// rule: hooks-of-changed-view, hooks-stay-with-value
TEST(HooksAndInPlace, HooksOfAViewStayWithTheOldHistory) {
  const Tensor x = clone(leaf({1, 2, 3}));
  const Tensor v = narrow(x, 0, 0, 2);
  const Tensor v2 = narrow(x, 0, 1, 2);
  int old_runs = 0;
  Values seen;
  const auto counting = [&] {
    return std::make_shared<FunctionalHook<TensorPreHook>>([&](const Tensor& g) {
      ++old_runs;
      return g;
    });
  };
  register_hook(v, counting());
  register_hook(v2, counting());
  mul_(v, 2);
  register_hook(v2, std::make_shared<FunctionalHook<TensorPreHook>>([&](const Tensor& g) {
                  seen = values(g);
                  return g;
                }));
  backward({sum(v2)});
  EXPECT_EQ(old_runs, 0);
  EXPECT_EQ(seen, (Values{1, 1}));
}

// rule: detach
TEST(Detach, SharesDataAndCutsTheHistory) {
  const Tensor x = leaf({1, 2});
  const Tensor y = detach(mul(x, 2));
  EXPECT_FALSE(requires_grad(y));
  EXPECT_TRUE(is_leaf(y));
  EXPECT_FALSE(is_view(y));
  backward({sum(add(x, y))});
  EXPECT_EQ(values(grad(x)), (Values{1, 1}));
}

// rule: detach-in-place
TEST(Detach, InPlaceTakesATensorOutOfItsGraph) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 3);
  const Tensor a = mul(x, 2);
  detach_in_place(a);
  EXPECT_FALSE(requires_grad(a));
  EXPECT_EQ(grad_fn(a), nullptr);
  EXPECT_EQ(output_nr(a), 0U);
  backward({sum(add(y, a))});
  EXPECT_EQ(values(grad(x)), (Values{3, 3}));
  set_requires_grad(a, true);
  EXPECT_TRUE(requires_grad(a));
}

// rule: detach-in-place-views
TEST(Detach, InPlaceRefusesViewsAndLeavesThoseOfABaseAttached) {
  const Tensor base = mul(leaf({1, 2}), 2);
  const Tensor v = narrow(base, 0, 0, 1);
  expect_error(ErrorCode::kViewInPlace, "a view cannot be detached in place",
               [&] { detach_in_place(v); });
  detach_in_place(base);
  EXPECT_FALSE(requires_grad(base));
  EXPECT_TRUE(requires_grad(v));
  EXPECT_NE(grad_fn(v), nullptr);
}

// rule: detach-equivalents
TEST(Detach, EqualsAViewUnderNoGradOfWhatNeedsNone) {
  const Tensor x = tensor({1, 2});
  add_(no_grad_view(x), 1);
  add_(detach(x), 1);
  EXPECT_EQ(values(x), (Values{3, 4}));
  EXPECT_EQ(x.version(), 2U);
}

}  // namespace
}  // namespace eg
