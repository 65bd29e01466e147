// markers: threads

// Forward-mode differentiation: levels, dual tensors, views and in-place changes of tangents.
// op_laws_test.cpp and function_laws_test.cpp test the tangents of every op.

#include "autograd/forward_ad.h"

#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/custom_function.h"
#include "autograd/grad_mode.h"
#include "ops/random/random.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/gradcheck.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::copy_;
using testing::expect_error;
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

// rule: forward-mode-levels
TEST(DualLevel, IsNeededAndDoesNotNest) {
  const Tensor x = tensor({1, 2});
  expect_error(ErrorCode::kInvalidArgument, "[makeDual] no dual level is open",
               [&] { (void)make_dual(x, x); });
  expect_error(ErrorCode::kInvalidArgument, "[dualLevel] no dual level is open",
               [] { exit_dual_level(); });
  const DualLevelGuard level;
  expect_error(ErrorCode::kInvalidArgument, "dual levels cannot be nested",
               [] { enter_dual_level(); });
}

// rule: forward-mode-levels
TEST(DualLevel, DropsItsTangentsWhenItEnds) {
  const std::int64_t tensors = testing::live_tensors();
  Tensor y;
  {
    const DualLevelGuard level;
    y = mul(make_dual(tensor({1, 2}), tensor({3, 4})), 2);
    EXPECT_EQ(values(tangent(y)), (Values{6, 8}));
  }
  EXPECT_FALSE(unpack_dual(y).tangent.defined());
  EXPECT_TRUE(unpack_dual(y).primal.is_same(y));
  // Only y is left.
  EXPECT_EQ(testing::live_tensors(), tensors + 1);
  const DualLevelGuard another;
  EXPECT_FALSE(tangent(y).defined());
}

#if EG_THREADS
// rule: forward-mode-levels
TEST(DualLevel, BelongsToItsThread) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2}), tensor({1, 1}));
  bool seen = true;
  std::thread([&] {
    seen = tangent(x).defined() || tangent(mul(x, 2)).defined();
    const DualLevelGuard own;
    seen = seen || tangent(x).defined();
  }).join();
  EXPECT_FALSE(seen);
  EXPECT_TRUE(tangent(x).defined());
}
#endif

// rule: inference-no-tangents
TEST(DualLevel, IsClosedInInferenceMode) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2}), tensor({1, 1}));
  {
    const InferenceModeGuard guard;
    EXPECT_FALSE(tangent(mul(x, 2)).defined());
  }
  EXPECT_TRUE(tangent(mul(x, 2)).defined());
}

// rule: forward-mode-arguments
TEST(MakeDual, ChecksWhatItIsGiven) {
  const DualLevelGuard level;
  const Tensor x = tensor({1, 2});
  expect_error(ErrorCode::kNotDifferentiable, "expected a floating-point or complex tangent, got ",
               [&] { (void)make_dual(x, tensor<std::int64_t>({1, 2})); });
  expect_error(ErrorCode::kShapeMismatch, "expected a tangent of shape ",
               [&] { (void)make_dual(x, tensor({1, 2, 3})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected a tangent of dtype ",
               [&] { (void)make_dual(x, tensor<double>({1, 2})); });
  expect_error(ErrorCode::kInvalidArgument, "already has a tangent in this dual level",
               [&] { (void)make_dual(make_dual(x, x), x); });
}

TEST(MakeDual, LeavesThePrimalAloneAndKeepsTheTangentsMemory) {
  const DualLevelGuard level;
  const Tensor x = leaf({1, 2});
  const Tensor t = tensor({3, 4});
  const Tensor dual = make_dual(x, t);
  EXPECT_FALSE(tangent(x).defined());
  EXPECT_TRUE(dual.shares_storage_with(x));
  EXPECT_TRUE(tangent(dual).is_same(t));
  const auto [primal, part] = unpack_dual(dual);
  EXPECT_TRUE(part.is_same(t));
  EXPECT_FALSE(tangent(primal).defined());
  EXPECT_TRUE(requires_grad(primal));
  EXPECT_FALSE(tangent(mul(primal, 2)).defined());
}

TEST(UnpackDual, GivesAPrimalWithoutATangentAlsoOfAResult) {
  const DualLevelGuard level;
  const Tensor y = mul(make_dual(tensor({1, 2}), tensor({3, 4})), 2);
  EXPECT_FALSE(tangent(unpack_dual(y).primal).defined());
  EXPECT_TRUE(tangent(y).defined());
}

TEST(Tangents, AreCarriedUnderNoGradAndPassDetachByNot) {
  const DualLevelGuard level;
  const Tensor x = make_dual(leaf({1, 2}), tensor({3, 4}));
  EXPECT_FALSE(tangent(detach(x)).defined());
  const NoGradGuard guard;
  const Tensor y = mul(x, x);
  EXPECT_EQ(values(tangent(y)), (Values{6, 16}));
  EXPECT_FALSE(requires_grad(tangent(y)));
}

TEST(Tangents, HaveTheResultsShapeAndDtype) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({2}, {1}), tensor({3}, {1}));
  const Tensor y = add(x, tensor<double>({1, 2, 3}, {3}));
  EXPECT_EQ(tangent(y).shape(), (Shape{3}));
  EXPECT_EQ(tangent(y).dtype(), DType::kFloat64);
  EXPECT_EQ(values(tangent(y)), (Values{3, 3, 3}));
}

TEST(Tangents, OfWhatIsNotDifferentiableDoNotExist) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2}), tensor({3, 4}));
  EXPECT_FALSE(tangent(call<op::Gt>(x, 1)).defined());
  EXPECT_EQ(values(tangent(call<op::Sign>(x))), (Values{0, 0}));
}

// A result never shares the memory of another tensor's tangent.
TEST(Tangents, AreNotShared) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2}), tensor({3, 4}));
  for (const Tensor& y : {add(x, 1), clone(x)}) {
    mul_(y, 10);
    EXPECT_EQ(values(tangent(y)), (Values{30, 40}));
  }
  const Tensor z = tensor({0, 0});
  copy_(z, x);
  mul_(z, 10);
  EXPECT_EQ(values(tangent(z)), (Values{30, 40}));
  EXPECT_EQ(values(tangent(x)), (Values{3, 4}));
}

// rule: forward-mode-views
TEST(TangentsOfViews, AreViewsOfTangents) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2, 3, 4}, {2, 2}), tensor({5, 6, 7, 8}, {2, 2}));
  const Tensor v = select(Transpose::call(x, 0, 1), 0, 1);
  EXPECT_EQ(values(tangent(v)), (Values{6, 8}));
  EXPECT_TRUE(tangent(v).shares_storage_with(tangent(x)));
  mul_(v, 10);
  EXPECT_EQ(values(tangent(x)), (Values{5, 60, 7, 80}));
  for (const Tensor& part : Unbind::call(x)) {
    EXPECT_TRUE(tangent(part).shares_storage_with(tangent(x)));
  }
}

// rule: forward-mode-views
TEST(TangentsOfViews, AChangeOfAViewGivesTheBaseATangent) {
  const DualLevelGuard level;
  const Tensor base = tensor({1, 2, 3});
  const Tensor other = narrow(base, 0, 1, 2);
  const Tensor v = narrow(base, 0, 0, 2);
  mul_(v, make_dual(tensor({2, 2}), tensor({5, 6})));
  EXPECT_EQ(values(tangent(v)), (Values{5, 12}));
  EXPECT_EQ(values(tangent(base)), (Values{5, 12, 0}));
  EXPECT_EQ(values(tangent(other)), (Values{12, 0}));
}

TEST(TangentsOfViews, AreFoundWhenTheBaseChangesLater) {
  const DualLevelGuard level;
  const Tensor base = tensor({1, 2, 3});
  const Tensor v = narrow(base, 0, 1, 2);
  mul_(base, make_dual(tensor({2, 2, 2}), tensor({4, 5, 6})));
  EXPECT_EQ(values(tangent(v)), (Values{10, 18}));
}

// A tangent of another layout is copied to that of its tensor; an expanded tensor cannot hold one.
TEST(TangentsOfViews, WorkForAnyLayout) {
  const DualLevelGuard level;
  const Tensor wide = tensor({1, 2, 3, 4}, {2, 2});
  const Tensor column = select(wide, 1, 0);
  const Tensor x = make_dual(column, tensor({5, 6}));
  EXPECT_EQ(tangent(x).strides(), x.strides());
  EXPECT_EQ(values(tangent(narrow(x, 0, 1, 1))), (Values{6}));
  const Tensor expanded = make_dual(Expand::call(tensor({1}, {1}), {2}), tensor({5, 6}));
  EXPECT_EQ(values(tangent(expanded)), (Values{5, 6}));
  EXPECT_EQ(values(tangent(narrow(expanded, 0, 1, 1))), (Values{6}));
}

// The tangent of a part has no memory beyond the part.
TEST(TangentsOfViews, AreZeroBeyondTheirTensor) {
  const DualLevelGuard level;
  const Tensor whole = tensor({1, 2, 3, 4, 5, 6});
  const Tensor x = make_dual(narrow(whole, 0, 2, 2), tensor({7, 8}));
  EXPECT_EQ(values(tangent(AsStrided::call(x, {3}, {1}, 1))), (Values{0, 7, 8}));
  EXPECT_EQ(values(tangent(AsStrided::call(x, {2}, {1}, 2))), (Values{7, 8}));
}

// The tangent uses the random numbers drawn for the value.
TEST(Tangents, OfDropoutUseItsMask) {
  const DualLevelGuard level;
  const Tensor ones = testing::full({100}, 1, DType::kFloat32);
  const Tensor y = Dropout::call(make_dual(ones, ones), 0.5, true);
  EXPECT_EQ(values(tangent(y)), values(y));
}

// The overwritten value counts, even if an operand is the target itself.
TEST(TangentsInPlace, AreTakenAtTheOldValue) {
  const DualLevelGuard level;
  const Tensor x = clone(make_dual(tensor({2, 3}), tensor({1, 1})));
  mul_(x, x);
  EXPECT_EQ(values(x), (Values{4, 9}));
  EXPECT_EQ(values(tangent(x)), (Values{4, 6}));
  ZeroInPlace::call(x);
  EXPECT_EQ(values(tangent(x)), (Values{0, 0}));
}

// rule: forward-mode-with-backward
// The Hessian times a vector: the gradient's tangent.
TEST(ForwardOverReverse, GivesHessianTimesVector) {
  const Tensor x = leaf<double>({1, 2, 3});
  const Tensor direction = tensor<double>({1, 0, 2});
  const DualLevelGuard level;
  const Tensor dual = make_dual(x, direction);
  // sum(x^2)^2 has the Hessian 4 |x|^2 I + 8 x x^T.
  const Tensor square = sum(mul(dual, dual));
  const Tensor g = grad({mul(square, square)}, {x})[0];
  EXPECT_EQ(values(g), (Values{56, 112, 168}));
  EXPECT_EQ(values(tangent(g)), (Values{56 + 56, 112, 112 + 168}));
}

// Through views and in-place changes, whose backward writes into views itself.
TEST(ForwardOverReverse, PassesInPlaceHistories) {
  const auto function = [](const Tensor& in) {
    const Tensor x = clone(in);
    const Tensor v = narrow(x, 0, 0, 2);
    call_in_place<op::Sin>(v);
    mul_(narrow(x, 0, 1, 2), 3);
    return sum(mul(mul(x, x), x));
  };
  const Tensor x = leaf<double>({0.5, 1, 1.5});
  const Tensor direction = tensor<double>({1, -2, 0.5});
  const Tensor g = grad({function(x)}, {x}, {}, {{.create_graph = true}})[0];
  const Values expected = values(grad({sum(mul(g, direction))}, {x})[0]);
  const DualLevelGuard level;
  const Tensor dual = make_dual(x, direction);
  const Tensor forward = grad({function(dual)}, {x})[0];
  EXPECT_EQ(values(forward), values(g));
  const Values actual = values(tangent(forward));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12);
}

// A gradient that reaches a leaf on two paths, and twice, is summed with its tangent.
TEST(ForwardOverReverse, AccumulatesTangents) {
  const Tensor x = leaf<double>({2, 3});
  const DualLevelGuard level;
  const Tensor dual = make_dual(x, tensor<double>({1, 1}));
  const auto cube = [&] { return sum(mul(mul(dual, dual), dual)); };
  backward({cube()});
  backward({cube()});
  EXPECT_EQ(values(grad(x)), (Values{24, 54}));
  EXPECT_EQ(values(tangent(grad(x))), (Values{24, 36}));
}

struct Doubled : Function<Doubled> {
  static constexpr std::string_view name = "Doubled";
  static Tensor forward(Context&, const Tensor& x) { return mul(x, 2); }
  static GradList backward(Context&, GradList grads) { return {mul(grads[0], 2)}; }
};

// rule: function-jvp-required
TEST(ForwardMode, NeedsTheJvpOfCustomFunctions) {
  const DualLevelGuard level;
  const Tensor x = make_dual(leaf({1, 2}), tensor({1, 1}));
  expect_error(
      ErrorCode::kNotDifferentiable,
      "[Doubled] an argument has a tangent of forward mode, for which a custom Function needs "
      "a static method jvp",
      [&] { (void)Doubled::apply(x); });
  EXPECT_EQ(values(Doubled::apply(tensor({1, 2}))), (Values{2, 4}));
}

struct Product : Function<Product> {
  static constexpr std::string_view name = "Product";
  static Tensor forward(Context& ctx, const Tensor& x, const Tensor& y) {
    ctx.save_for_backward({x, y});
    ctx.save_for_forward({x, y});
    return mul(x, y);
  }
  static GradList backward(Context& ctx, GradList grads) {
    const TensorList saved = ctx.saved_tensors();
    return {mul(grads[0], saved[1]), mul(grads[0], saved[0])};
  }
  static TensorList jvp(Context& ctx, TensorList tangents) {
    const TensorList saved = ctx.saved_tensors();
    return {add(mul(tangents[0], saved[1]), mul(saved[0], tangents[1]))};
  }
};

TEST(CustomFunctionTangents, AreComputedByJvp) {
  const Tensor x = leaf<double>({2, 3});
  const Tensor y = tensor<double>({5, 7});
  const DualLevelGuard level;
  // The missing tangent of the second argument is zero.
  const Tensor out = Product::apply(make_dual(x, tensor<double>({1, 10})), y);
  EXPECT_EQ(values(out), (Values{10, 21}));
  EXPECT_EQ(values(tangent(out)), (Values{5, 70}));
  backward({sum(out)});
  EXPECT_EQ(values(grad(x)), (Values{5, 7}));
}

// What the functions below return from jvp.
enum class Returns : std::uint8_t { kRight, kCopy, kView, kNothing, kTwo, kOtherShape };

struct FirstTwo : Function<FirstTwo, Returns> {
  static constexpr std::string_view name = "FirstTwo";
  static Tensor forward(Context& ctx, const Tensor& x, Returns returns) {
    ctx.state = returns;
    return narrow(x, 0, 0, 2);
  }
  static GradList backward(Context&, GradList) { return {{}, {}}; }
  static TensorList jvp(Context& ctx, TensorList tangents) {
    const Tensor part = narrow(tangents[0], 0, 0, 2);
    switch (ctx.state) {
      case Returns::kRight:
        return {part};
      case Returns::kCopy:
        return {clone(part)};
      case Returns::kView:
        return {narrow(clone(tangents[0]), 0, 0, 2)};
      case Returns::kNothing:
        return {{}};
      case Returns::kTwo:
        return {part, part};
      case Returns::kOtherShape:
        return {tangents[0]};
    }
    return {};
  }
};

TEST(CustomFunctionTangents, OfAViewAreAViewOfTheTangent) {
  const DualLevelGuard level;
  const Tensor x = make_dual(tensor({1, 2, 3}), tensor({4, 5, 6}));
  const Tensor part = FirstTwo::apply(x, Returns::kRight);
  EXPECT_EQ(values(tangent(part)), (Values{4, 5}));
  EXPECT_TRUE(tangent(part).shares_storage_with(tangent(x)));
  const auto expect_refused = [&](Returns returns, const char* message) {
    expect_error(ErrorCode::kInvalidGradient, message, [&] { (void)FirstTwo::apply(x, returns); });
  };
  expect_refused(Returns::kCopy, "jvp returned for result 0 a tangent that is no view");
  expect_refused(Returns::kNothing, "jvp returned for result 0 a tangent that is no view");
  expect_refused(Returns::kView, "jvp returned for result 0 a view of another tensor");
  expect_refused(Returns::kTwo, "jvp returned 2 tangents, expected 1, one per result of forward");
  expect_refused(Returns::kOtherShape, "a tangent of shape [3], expected [2]");
}

struct DoubledInPlace : Function<DoubledInPlace, Returns> {
  static constexpr std::string_view name = "DoubledInPlace";
  static Tensor forward(Context& ctx, const Tensor& x, Returns returns) {
    ctx.state = returns;
    mul_(x, 2);
    ctx.mark_dirty({x});
    return x;
  }
  static GradList backward(Context&, GradList grads) { return {mul(grads[0], 2), {}}; }
  static TensorList jvp(Context& ctx, TensorList tangents) {
    if (ctx.state == Returns::kCopy) return {mul(tangents[0], 2)};
    if (ctx.state == Returns::kRight) mul_(tangents[0], 2);
    return {tangents[0]};
  }
};

TEST(CustomFunctionTangents, OfAnArgumentChangedInPlaceChangeInPlace) {
  const DualLevelGuard level;
  const auto dual = [] { return make_dual(tensor({1, 2}), tensor({3, 4})); };
  const Tensor x = dual();
  EXPECT_TRUE(DoubledInPlace::apply(x, Returns::kRight).is_same(x));
  EXPECT_EQ(values(tangent(x)), (Values{6, 8}));
  expect_error(ErrorCode::kInvalidGradient, "another tangent than it was given",
               [&] { (void)DoubledInPlace::apply(dual(), Returns::kCopy); });
  expect_error(ErrorCode::kInvalidGradient, "the tangent unchanged",
               [&] { (void)DoubledInPlace::apply(dual(), Returns::kView); });
}

}  // namespace
}  // namespace eg
