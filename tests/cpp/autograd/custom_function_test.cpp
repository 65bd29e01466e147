#include "autograd/custom_function.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/graph/basic_nodes.h"
#include "base/warning.h"
#include "ops/create/copy.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Values = std::vector<double>;

struct PassThrough : Function<PassThrough> {
  static constexpr std::string_view name = "PassThrough";
  static Tensor forward(Context&, const Tensor& t) { return t; }
  static GradList backward(Context&, GradList grads) { return grads; }
};

struct TwoArguments : Function<TwoArguments> {
  static constexpr std::string_view name = "F";
  static Tensor forward(Context&, const Tensor& x, int) { return Clone::call(x); }
  static GradList backward(Context&, GradList grads) { return {grads[0], grads[0]}; }
};

struct Pair : Function<Pair> {
  static constexpr std::string_view name = "Pair";
  static Tensor forward(Context&, const Tensor& x, const Tensor& y) { return add(x, y); }
  static GradList backward(Context& ctx, GradList grads) {
    return {ctx.needs_input_grad(0) ? grads[0] : Tensor(),
            ctx.needs_input_grad(1) ? mul(grads[0], 100) : Tensor()};
  }
};

/// x + k y + x y, with a hand-written gradient.
struct Mix : Function<Mix, double> {
  static constexpr std::string_view name = "Mix";
  static Tensor forward(Context& ctx, const Tensor& x, double k, const Tensor& y) {
    EXPECT_FALSE(is_grad_enabled());
    EXPECT_TRUE(ctx.needs_input_grad(0));
    EXPECT_FALSE(ctx.needs_input_grad(1));
    ctx.save_for_backward({x, y});
    ctx.state = k;
    return add(add(x, mul(y, k)), mul(x, y));
  }
  static GradList backward(Context& ctx, GradList grads) {
    const TensorList saved = ctx.saved_tensors();
    const Tensor& g = grads[0];
    return {add(g, mul(g, saved[1])), Tensor(), add(mul(g, ctx.state), mul(g, saved[0]))};
  }
};

// rule: function-records, function-other-values, function-differentiates-twice
TEST(CustomFunction, TakesOtherArgumentsBesidesTensorsAndDifferentiatesTwice) {
  const Tensor x = leaf(3);
  const Tensor y = leaf(5);
  const Tensor out = Mix::apply(x, 2.0, y);
  EXPECT_EQ(grad_fn(out)->name(), "MixBackward");
  backward({out}, {}, {.create_graph = true});
  EXPECT_EQ(value(grad(x)), 6);
  EXPECT_EQ(value(grad(y)), 5);
  EXPECT_NE(grad_fn(grad(x)), nullptr);
  EXPECT_NE(grad_fn(grad(y)), nullptr);
  const Tensor mixed = grad(x);
  set_grad(x, Tensor());
  set_grad(y, Tensor());
  backward({mixed});
  EXPECT_EQ(value(grad(y)), 1);
}

// rule: function-records
TEST(CustomFunction, RecordsOnlyInGradMode) {
  const Tensor x = leaf(1);
  {
    const NoGradGuard no_grad;
    EXPECT_EQ(grad_fn(PassThrough::apply(x)), nullptr);
  }
  EXPECT_EQ(grad_fn(PassThrough::apply(tensor({1}))), nullptr);
  EXPECT_FALSE(requires_grad(PassThrough::apply(tensor({1}))));
}

// A function whose backward the test sets.
struct Custom : Function<Custom> {
  static constexpr std::string_view name = "F";
  static inline std::function<TensorList(Context&, const Tensor&)> forward_body;
  static inline std::function<GradList(Context&, GradList)> backward_body;
  static TensorList forward(Context& ctx, const Tensor& x) { return forward_body(ctx, x); }
  static GradList backward(Context& ctx, GradList grads) {
    return backward_body(ctx, std::move(grads));
  }
};

TensorList clone_forward(CustomFunctionNode&, const Tensor& x) { return {Clone::call(x)}; }
GradList pass(CustomFunctionNode&, GradList grads) { return grads; }

// rule: function-returns-nothing, missing-means-zero
TEST(CustomFunction, UndefinedResultsPropagate) {
  Custom::forward_body = clone_forward;
  Custom::backward_body = [](auto&, GradList) { return GradList(1); };
  const Tensor x = leaf(2);
  backward({Custom::apply(x)[0]});
  EXPECT_FALSE(grad(x).defined());
  backward({Custom::apply(mul(x, x))[0]});
  EXPECT_FALSE(grad(x).defined());
  EXPECT_FALSE(grad({Custom::apply(x)[0]}, {x}, {}, {{}, true})[0].defined());
}

// rule: function-materializes, missing-means-zero
TEST(CustomFunction, MaterializesUndefinedGradientsUnlessToldNotTo) {
  bool materialize = true;
  Custom::forward_body = [&](auto& ctx, const Tensor& x) {
    ctx.set_materialize_grads(materialize);
    return TensorList{Clone::call(x)};
  };
  bool got_zeros = false;
  Custom::backward_body = [&](auto&, GradList grads) {
    got_zeros = grads[0].defined();
    if (got_zeros) {
      EXPECT_EQ(values(grads[0]), (Values{0, 0}));
    }
    return grads;
  };
  const Tensor x = leaf({1, 2});
  backward({sum(undefined_grad(Custom::apply(x)[0]))});
  EXPECT_TRUE(got_zeros);
  materialize = false;
  backward({sum(undefined_grad(Custom::apply(x)[0]))});
  EXPECT_FALSE(got_zeros);
}

// rule: function-gradient-count, function-other-values, node-slots
TEST(CustomFunction, ChecksTheNumberAndPlaceOfGradients) {
  const Tensor x = leaf(1);
  expect_error(ErrorCode::kInvalidGradient,
               "FBackward returned a gradient for argument 2 of forward, which is not a tensor",
               [&] { backward({TwoArguments::apply(x, 1)}); });
  Custom::forward_body = clone_forward;
  Custom::backward_body = [](auto&, GradList grads) { return GradList{grads[0], grads[0]}; };
  expect_error(ErrorCode::kInvalidGradient, "FBackward returned 2 gradients, expected 1",
               [&] { backward({Custom::apply(x)[0]}); });
  Custom::backward_body = [](auto&, GradList) { return GradList(); };
  expect_error(ErrorCode::kInvalidGradient, "FBackward returned 0 gradients, expected 1",
               [&] { backward({Custom::apply(x)[0]}); });
  Custom::backward_body = [](auto&, GradList grads) {
    return GradList{grads[0], Tensor(), Tensor()};
  };
  backward({Custom::apply(x)[0]});
  EXPECT_EQ(value(grad(x)), 1);
}

// rule: gradient-wrong-shape
TEST(CustomFunction, GradientsOfTheWrongShapeNameTheFunction) {
  Custom::forward_body = clone_forward;
  Custom::backward_body = [](auto&, GradList) {
    return GradList{tensor(std::vector<float>(10, 1))};
  };
  const Tensor x = leaf(std::vector<float>(25, 1), {5, 5});
  expect_error(ErrorCode::kInvalidGradient,
               "gradient 0 returned by FBackward has shape [10], expected [5, 5]",
               [&] { backward({sum(Custom::apply(x)[0])}); });
}

// rule: function-other-values
TEST(CustomFunction, OutputsThatAreNoTensorsGetNoGradient) {
  Custom::forward_body = [](auto&, const Tensor& x) {
    return TensorList{Clone::call(x), Tensor(), Clone::call(x)};
  };
  Custom::backward_body = [](auto&, GradList grads) {
    EXPECT_EQ(grads.size(), 3U);
    EXPECT_FALSE(grads[1].defined());
    return GradList{add(grads[0], grads[2])};
  };
  const Tensor x = leaf(1);
  const TensorList outputs = Custom::apply(x);
  EXPECT_FALSE(outputs[1].defined());
  EXPECT_EQ(output_nr(outputs[2]), 2U);
  backward({outputs[2]});
  EXPECT_EQ(value(grad(x)), 1);
}

// rule: function-non-differentiable
TEST(CustomFunction, NonDifferentiableOutputsGetZeros) {
  Custom::forward_body = [](auto& ctx, const Tensor& x) {
    const TensorList outputs{mul(x, 2), mul(x, 3), tensor<std::int64_t>({1})};
    ctx.mark_non_differentiable({outputs[0]});
    return outputs;
  };
  Custom::backward_body = [](auto&, GradList grads) {
    EXPECT_EQ(values(grads[0]), (Values{0}));
    EXPECT_EQ(values(grads[1]), (Values{1}));
    return GradList{mul(grads[1], 3)};
  };
  const Tensor x = leaf(1);
  const TensorList outputs = Custom::apply(x);
  EXPECT_FALSE(requires_grad(outputs[0]));
  EXPECT_TRUE(requires_grad(outputs[1]));
  EXPECT_FALSE(requires_grad(outputs[2]));
  backward({sum(outputs[1])});
  EXPECT_EQ(values(grad(x)), (Values{3}));
}

// rule: function-returns-argument
TEST(CustomFunction, AnArgumentReturnedAsItIsBecomesAView) {
  Custom::forward_body = [](auto&, const Tensor& x) { return TensorList{x}; };
  Custom::backward_body = [](auto&, GradList grads) { return GradList{mul(grads[0], 2)}; };
  const Tensor x = leaf({1, 2});
  const Tensor y = Custom::apply(x)[0];
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(y.shares_storage_with(x));
  EXPECT_EQ(grad_fn(x), nullptr);
  EXPECT_EQ(grad_fn(y)->name(), "FBackward");
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), (Values{2, 2}));
  const Tensor z = Custom::apply(mul(x, 1))[0];
  expect_error(ErrorCode::kViewInPlace, "A custom Function made it",
               [&] { call_in_place<op::Add>(z, 1); });
}

// rule: function-view-restricted
TEST(CustomFunction, ViewsFromForwardCannotBeChangedInPlace) {
  Custom::forward_body = [](auto&, const Tensor& x) {
    return TensorList{Narrow::call(x, 0, 0, 1)};
  };
  Custom::backward_body = pass;
  const Tensor x = leaf({1, 2});
  const Tensor y = Custom::apply(mul(x, 1))[0];
  expect_error(ErrorCode::kViewInPlace, "A custom Function made it",
               [&] { call_in_place<op::Add>(y, 1); });
  Custom::forward_body = [](auto&, const Tensor& t) {
    return TensorList{Narrow::call(t, 0, 0, 1), Narrow::call(t, 0, 1, 1)};
  };
  const TensorList two = Custom::apply(mul(x, 1));
  expect_error(ErrorCode::kViewInPlace, "It is one of several views",
               [&] { call_in_place<op::Add>(two[0], 1); });
}

// rule: function-view-restricted
TEST(CustomFunction, MayReturnAViewThatItsForwardChanged) {
  Custom::backward_body = [](auto&, GradList grads) {
    return GradList{Reshape::call(mul(grads[0], 2), {2})};
  };
  for (const bool through_base : {false, true}) {
    Custom::forward_body = [&](auto&, const Tensor& x) {
      const Tensor own = Clone::call(x);
      const Tensor view = View::call(own, {2, 1});
      call_in_place<op::Mul>(through_base ? own : view, 2);
      return TensorList{view};
    };
    const Tensor x = leaf({1, 2});
    const Tensor y = Custom::apply(x)[0];
    EXPECT_EQ(values(y), (Values{2, 4}));
    backward({sum(y)});
    EXPECT_EQ(values(grad(x)), (Values{2, 2}));
    expect_error(ErrorCode::kViewInPlace, "A custom Function made it",
                 [&] { call_in_place<op::Add>(y, 1); });
  }
}

// rule: function-dirty
TEST(CustomFunction, ADirtyArgumentContinuesItsOwnHistory) {
  Custom::forward_body = [](auto& ctx, const Tensor& x) {
    call_in_place<op::Mul>(x, 2);
    ctx.mark_dirty({x});
    return TensorList{x};
  };
  Custom::backward_body = [](auto&, GradList grads) { return GradList{mul(grads[0], 2)}; };
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 3);
  const std::uint32_t version = y.version();
  const Tensor z = Custom::apply(y)[0];
  EXPECT_TRUE(z.is_same(y));
  EXPECT_GT(y.version(), version);
  EXPECT_EQ(grad_fn(y)->name(), "FBackward");
  backward({sum(z)});
  EXPECT_EQ(values(grad(x)), (Values{6, 6}));
}

// rule: function-dirty-view
TEST(CustomFunction, ADirtyViewRewritesTheHistoryOfItsBase) {
  Custom::forward_body = [](auto& ctx, const Tensor& x) {
    call_in_place<op::Mul>(x, 2);
    ctx.mark_dirty({x});
    return TensorList{x};
  };
  Custom::backward_body = [](auto&, GradList grads) { return GradList{mul(grads[0], 2)}; };
  const Tensor x = leaf({1, 2});
  const Tensor base = mul(x, 3);
  Custom::apply(Narrow::call(base, 0, 0, 1));
  EXPECT_EQ(values(base), (Values{6, 6}));
  backward({sum(base)});
  EXPECT_EQ(values(grad(x)), (Values{6, 3}));
}

// rule: function-dirty-refused
TEST(CustomFunction, RefusesDirtyArgumentsThatCannotBeRewritten) {
  Custom::backward_body = pass;
  const Tensor x = leaf({1, 2});
  Custom::forward_body = [](auto& ctx, const Tensor& t) {
    ctx.mark_dirty({t});
    return TensorList{t};
  };
  expect_error(ErrorCode::kLeafInPlace,
               "a leaf that requires a gradient was passed to ctx.markDirty()",
               [&] { Custom::apply(x); });
  Custom::forward_body = [](auto& ctx, const Tensor& t) {
    ctx.mark_dirty({t});
    return TensorList{Clone::call(t)};
  };
  expect_error(ErrorCode::kInvalidArgument,
               "forward must return every tensor passed to ctx.markDirty()",
               [&] { Custom::apply(mul(x, 1)); });
  Custom::forward_body = [](auto& ctx, const Tensor& t) {
    ctx.mark_dirty({t});
    return TensorList{t, Clone::call(t)};
  };
  expect_error(ErrorCode::kViewInPlace,
               "a Function that changes a view in place can only return that view, got 2 outputs",
               [&] { Custom::apply(Narrow::call(mul(x, 1), 0, 0, 1)); });
}

// rule: function-same-result-twice
TEST(CustomFunction, ATensorReturnedTwiceHasAGradientPerSlot) {
  Custom::forward_body = [](auto&, const Tensor& x) {
    const Tensor y = Clone::call(x);
    return TensorList{y, y};
  };
  Custom::backward_body = [](auto&, GradList grads) {
    return GradList{add(mul(grads[0], 10), grads[1])};
  };
  const Tensor x = leaf(1);
  const TensorList outputs = Custom::apply(x);
  EXPECT_TRUE(outputs[0].is_same(outputs[1]));
  backward({outputs[0]});
  EXPECT_EQ(value(grad(x)), 1);
}

// rule: function-needs-input-grad, formulas-skip-unneeded
TEST(CustomFunction, NeedsInputGradKnowsWhatTheRunningCallWants) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  const Tensor out = Pair::apply(x, y);
  int seen = 0;
  testing::hook_after(*grad_fn(out), [&](GradList in, const GradList&) {
    seen = (in[0].defined() ? 1 : 0) + (in[1].defined() ? 2 : 0);
    return in;
  });
  (void)grad({out}, {x}, {}, {{.retain_graph = true}});
  EXPECT_EQ(seen, 1);
  (void)grad({out}, {y}, {}, {{.retain_graph = true}});
  EXPECT_EQ(seen, 2);
  backward({out});
  EXPECT_EQ(seen, 3);
}

struct OnceOnly : Function<OnceOnly> {
  static constexpr std::string_view name = "OnceOnly";
  static constexpr bool once_differentiable = true;
  static Tensor forward(Context& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return mul(x, x);
  }
  static GradList backward(Context& ctx, GradList grads) {
    EXPECT_FALSE(is_grad_enabled());
    return {mul(mul(grads[0], ctx.saved_tensors()[0]), 2)};
  }
};

// rule: function-once-differentiable
TEST(CustomFunction, OnceDifferentiableRefusesTheSecondDerivative) {
  const Tensor x = leaf(3);
  const GradOptions create{{.create_graph = true}};
  const Tensor g = grad({OnceOnly::apply(x)}, {x}, {}, create)[0];
  EXPECT_EQ(value(g), 6);
  const std::string text = "onceDifferentiable cannot be differentiated again";
  expect_error(ErrorCode::kNotDifferentiable, text, [&] { backward({g}); });
  expect_error(ErrorCode::kNotDifferentiable, text, [&] { (void)grad({g}, {x}); });
  backward({OnceOnly::apply(x)});
  EXPECT_EQ(grad_fn(grad(x)), nullptr);
}

// rule: function-saves, saved-freed
TEST(CustomFunction, SavedTensorsAreCheckedAndFreed) {
  IntrusivePtr<CustomFunctionNode> stashed;
  Custom::forward_body = [&](auto& ctx, const Tensor& x) {
    const Tensor y = mul(x, 2);
    ctx.save_for_backward({x, y, Tensor(), mul(x, 7)});
    stashed = IntrusivePtr<CustomFunctionNode>(&ctx);
    return TensorList{y};
  };
  Custom::backward_body = [](auto& ctx, GradList grads) {
    const TensorList saved = ctx.saved_tensors();
    EXPECT_EQ(value(saved[1]), 6);
    EXPECT_FALSE(saved[2].defined());
    EXPECT_EQ(value(saved[3]), 21);
    return grads;
  };
  const Tensor x = leaf(3);
  const Tensor y = Custom::apply(x)[0];
  EXPECT_TRUE(stashed->saved_tensors()[0].is_same(x));
  EXPECT_FALSE(stashed->saved_tensors()[1].is_same(y));
  EXPECT_EQ(grad_fn(stashed->saved_tensors()[1]), grad_fn(y));
  backward({y});
  expect_error(ErrorCode::kGraphFreed, "saved for backward have been freed",
               [&] { (void)stashed->saved_tensors(); });
  expect_error(ErrorCode::kGraphFreed, "Pass retainGraph: true", [&] { backward({y}); });
  stashed.reset();

  const Tensor z = mul(x, 1);
  Custom::backward_body = [](auto& ctx, GradList grads) {
    (void)ctx.saved_tensors();
    return grads;
  };
  const Tensor w = Custom::apply(z)[0];
  stashed.reset();
  call_in_place<op::Add>(z, 1);
  expect_error(ErrorCode::kModifiedInPlace, "that backward needs was changed in place",
               [&] { backward({w}); });
}

// rule: function-context-memory, saved-output-no-cycle
TEST(CustomFunction, SavingItsOutputMakesNoCycle) {
  Custom::forward_body = [](auto& ctx, const Tensor& x) {
    const Tensor y = mul(x, 2);
    ctx.save_for_backward({x, y});
    return TensorList{y};
  };
  Custom::backward_body = pass;
  const std::int64_t nodes = testing::live_nodes();
  const std::int64_t tensors = testing::live_tensors();
  {
    const Tensor x = leaf(3);
    const Tensor y = Custom::apply(x)[0];
  }
  EXPECT_EQ(testing::live_nodes(), nodes);
  EXPECT_EQ(testing::live_tensors(), tensors);
}

// rule: delayed-error, missing-formula, undefined-grad-node
TEST(ErrorNodes, FailWhenGradientsReachThem) {
  const Tensor x = leaf(1);
  expect_error(ErrorCode::kNotDifferentiable, "Boom!",
               [&] { backward({delayed_error(x, "Boom!")}); });
  const Tensor y = mul(detach(x), 2);
  set_not_implemented(y, {x}, "aten::nextafter");
  EXPECT_TRUE(requires_grad(y));
  expect_error(ErrorCode::kNotDifferentiable, "aten::nextafter has no derivative",
               [&] { backward({y}); });
  backward({undefined_grad(x)});
  EXPECT_FALSE(grad(x).defined());
}

// rule: delayed-error, copy-slices-needed-only
TEST(ErrorNodes, BehindAnInPlaceChangeOfAViewOnlyRunWhenNeeded) {
  const Tensor x = leaf({1, 2});
  const Tensor y = leaf({3, 4});
  const auto build = [&] {
    const Tensor base = Clone::call(x);
    call_in_place<op::Add>(Narrow::call(base, 0, 0, 2), delayed_error(y, "Boom!"));
    return sum(base);
  };
  EXPECT_EQ(values(grad({build()}, {x})[0]), (Values{1, 1}));
  expect_error(ErrorCode::kNotDifferentiable, "Boom!", [&] { (void)grad({build()}, {y}); });
}

}  // namespace
}  // namespace eg
