#include "autograd/hooks/hooks.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/accumulate_grad.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::expect_error;
using testing::hook_accumulated;
using testing::hook_after;
using testing::hook_before;
using testing::hook_tensor;
using testing::leaf;
using testing::mul;
using testing::sub;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Log = std::vector<std::string>;
using Values = std::vector<double>;

GradList doubled(GradList grads) {
  for (Tensor& grad : grads) {
    if (grad.defined()) grad = mul(grad, 2);
  }
  return grads;
}

// rule: leaf-hook-outlives-graph, tensor-hook-each-pass, hook-removal
TEST(TensorHooks, OfALeafOutliveTheGraph) {
  const Tensor x = leaf(3);
  int calls = 0;
  const TensorPreHook* hook = hook_tensor(x, [&](const Tensor& g) {
    ++calls;
    return mul(g, 2);
  });
  for (int round = 0; round < 3; ++round) backward({mul(x, 1)});
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(value(grad(x)), 6);
  remove_hook(x, hook);
  remove_hook(x, hook);
  backward({mul(x, 1)});
  EXPECT_EQ(calls, 3);
}

// rule: tensor-hook-order
TEST(TensorHooks, RunInOrderOfRegistration) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 1);
  hook_tensor(b, [](const Tensor& g) { return mul(g, 2); });
  hook_tensor(b, [](const Tensor& g) { return add(g, 1); });
  backward({b});
  EXPECT_EQ(value(grad(a)), 3);
}

// rule: tensor-hook-returns, tensor-hook-null, tensor-hook-requires-grad
TEST(TensorHooks, MustKeepSizeAndTypeAndCannotInventAGradient) {
  const Tensor x = leaf({1, 2});
  const TensorPreHook* hook = hook_tensor(x, [](const Tensor&) { return tensor({1, 2, 3}); });
  expect_error(ErrorCode::kInvalidGradient, "returned a gradient of shape ",
               [&] { backward({sum(mul(x, 2))}); });
  remove_hook(x, hook);
  hook = hook_tensor(x, [](const Tensor&) { return tensor<double>({1, 2}); });
  expect_error(ErrorCode::kInvalidGradient, "returned a gradient of ",
               [&] { backward({sum(mul(x, 2))}); });
  remove_hook(x, hook);
  const Tensor y = mul(x, 1);
  const Tensor z = through(y, [](GradList&& g) { return GradList(g.size()); });
  hook_tensor(y, [](const Tensor& g) {
    EXPECT_FALSE(g.defined());
    return tensor({1, 2});
  });
  expect_error(ErrorCode::kInvalidGradient, "a hook cannot replace a null gradient",
               [&] { backward({sum(z)}); });
  expect_error(ErrorCode::kInvalidArgument, "[registerHook] the tensor does not require a gradient",
               [] { hook_tensor(tensor({1}), [](const Tensor& g) { return g; }); });
}

// rule: tensor-hook-null
TEST(TensorHooks, OfASlotWithoutAGradientAreCalledWithNone) {
  const Tensor x = leaf({1, 2, 3, 4, 5});
  const TensorList parts = Unbind::call(x, 0);
  Values seen;
  hook_tensor(parts[0], [&](const Tensor& g) {
    seen.push_back(g.defined() ? value(g) : -1);
    return g;
  });
  for (const Tensor& part : parts) backward({part}, {}, {.retain_graph = true});
  EXPECT_EQ(seen, (Values{1, -1, -1, -1, -1}));
  EXPECT_EQ(values(grad(x)), Values(5, 1));
}

// rule: hook-order, retain-grad-after-hooks
TEST(HookOrder, IsTensorHooksThenRetainedGradThenNodeHooks) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 3);
  Log log;
  hook_after(*grad_fn(b), [&](GradList in, const GradList& out) {
    log.push_back("post " + std::to_string(static_cast<int>(value(out[0]))));
    return in;
  });
  hook_before(*grad_fn(b), [&](GradList g) {
    log.push_back("pre " + std::to_string(static_cast<int>(value(grad(b)))));
    return doubled(std::move(g));
  });
  retain_grad(b);
  hook_tensor(b, [&](const Tensor& g) {
    log.push_back("tensor");
    return mul(g, 5);
  });
  backward({b});
  EXPECT_EQ(log, (Log{"tensor", "pre 5", "post 10"}));
  EXPECT_EQ(value(grad(b)), 5);
  EXPECT_EQ(value(grad(a)), 30);
}

// rule: hook-removed-in-pass
TEST(HookOrder, RemovingAHookInsideAPassTakesEffectInTheNext) {
  const Tensor a = leaf(1);
  const Tensor b = add(a, 0);
  const IntrusivePtr<Node> node = grad_fn(b);
  Log log;
  const NodePreHook* second = nullptr;
  const NodePreHook* third = nullptr;
  hook_before(*node, [&](GradList g) {
    log.push_back("p1");
    node->remove_pre_hook(second);
    node->remove_pre_hook(third);
    return g;
  });
  second = hook_before(*node, [&](GradList g) {
    log.push_back("p2");
    return g;
  });
  third = hook_before(*node, [&](GradList g) {
    log.push_back("p3");
    return g;
  });
  node->remove_pre_hook(third);
  backward({b}, {}, {.retain_graph = true});
  EXPECT_EQ(log, (Log{"p1", "p2"}));
  backward({b});
  EXPECT_EQ(log, (Log{"p1", "p2", "p1"}));
}

// rule: post-hook-arguments
TEST(NodeHooks, PostHooksSeeWhatApplyReceivedAndReturned) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 2);
  const IntrusivePtr<Node> node = grad_fn(b);
  int posts = 0;
  const auto check_values = [&](GradList in, const GradList& out) {
    ++posts;
    EXPECT_EQ(value(out[0]), 8);
    EXPECT_EQ(value(in[0]), 16);
    return in;
  };
  hook_after(*node, check_values);
  for (int i = 0; i < 3; ++i) {
    hook_before(*node, doubled);
    hook_before(*node, [](GradList g) { return g; });
  }
  hook_after(*node, check_values);
  backward({sum(b)});
  EXPECT_EQ(posts, 2);
  EXPECT_EQ(value(grad(a)), 16);
}

// rule: node-hook-count
TEST(NodeHooks, MustReturnAsManyValuesAsTheyGot) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 2);
  hook_before(*grad_fn(b), [](GradList g) { return GradList{g[0], g[0]}; });
  expect_error(ErrorCode::kInvalidGradient, "returned 2 gradients, expected 1",
               [&] { backward({b}); });
  const Tensor c = mul(a, 2);
  hook_after(*grad_fn(c), [](GradList, const GradList&) { return GradList(); });
  expect_error(ErrorCode::kInvalidGradient, "returned 0 gradients, expected 2",
               [&] { backward({c}); });
}

// rule: late-post-hook
TEST(NodeHooks, APostHookRegisteredDuringApplyFindsNoInputs) {
  const Tensor a = leaf(1);
  IntrusivePtr<Node> node;
  std::size_t inputs = 99;
  const Tensor b = through(a, [&](GradList&& g) {
    hook_after(*node, [&](GradList in, const GradList& out) {
      inputs = out.size();
      return in;
    });
    return std::move(g);
  });
  node = grad_fn(b);
  backward({b});
  EXPECT_EQ(inputs, 0U);
  node.reset();
}

// rule: accumulator-hooks, node-slots
TEST(NodeHooks, OfAnAccumulatorSeeTheHookedGradientAndNoResults) {
  const Tensor a = leaf(1);
  hook_tensor(a, [](const Tensor& g) { return mul(g, 2); });
  const IntrusivePtr<Node> accumulator = grad_accumulator(a);
  Log log;
  hook_before(*accumulator, [&](GradList g) {
    EXPECT_EQ(value(g[0]), 2);
    log.push_back("pre");
    return g;
  });
  hook_after(*accumulator, [&](GradList in, const GradList& out) {
    EXPECT_TRUE(in.empty());
    EXPECT_EQ(value(out[0]), 2);
    log.push_back("post");
    return in;
  });
  backward({mul(a, 1)});
  EXPECT_EQ(log, (Log{"pre", "post"}));
}

// rule: tensor-hook-without-node, node-hooks-with-node
TEST(HooksUnderGrad, TensorHooksOfCapturedTensorsFireNodeHooksDoNot) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 3);
  const Tensor c = mul(b, 5);
  Log log;
  hook_tensor(b, [&](const Tensor& g) {
    log.push_back("tensor");
    return g;
  });
  hook_before(*grad_fn(b), [&](GradList g) {
    log.push_back("pre");
    return g;
  });
  (void)grad({c}, {b}, {}, {{.retain_graph = true}});
  EXPECT_EQ(log, (Log{"tensor"}));
  log.clear();
  (void)grad({c}, {a, b});
  EXPECT_EQ(log, (Log{"tensor", "pre"}));
}

// rule: captured-before-hooks
TEST(HooksUnderGrad, ACapturedGradientIsRawWhenItsNodeRunsToo) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 3);
  const Tensor c = mul(b, 5);
  hook_tensor(b, [](const Tensor& g) { return mul(g, 10); });
  const GradOptions keep{{.retain_graph = true}};
  EXPECT_EQ(value(grad({c}, {b}, {}, keep)[0]), 50);
  EXPECT_EQ(value(grad({c}, {a}, {}, keep)[0]), 150);
  const TensorList both = grad({c}, {a, b}, {}, keep);
  EXPECT_EQ(value(both[0]), 150);
  EXPECT_EQ(value(both[1]), 5);
}

// rule: post-accumulate-hook, hook-order
TEST(PostAccumulateGradHooks, RunInOrderAfterTheGradientIsThere) {
  const Tensor t = leaf({0.1F, 0.2F, 0.3F});
  Log log;
  hook_accumulated(t, [&](const Tensor& v) {
    EXPECT_FALSE(is_grad_enabled());
    call_in_place<op::Sub>(v, grad(v));
    log.push_back("post-acc");
  });
  const PostAccumulateGradHook* second =
      hook_accumulated(t, [](const Tensor& v) { call_in_place<op::Mul>(v, 4); });
  const IntrusivePtr<Node> accumulator = grad_accumulator(t);
  hook_tensor(t, [&](const Tensor& g) {
    log.push_back("tensor");
    return g;
  });
  hook_before(*accumulator, [&](GradList g) {
    log.push_back("pre");
    return g;
  });
  hook_after(*accumulator, [&](GradList in, const GradList&) {
    log.push_back("post");
    return in;
  });
  backward({sum(t)});
  EXPECT_EQ(log, (Log{"tensor", "pre", "post-acc", "post"}));
  const Values result = values(t);
  EXPECT_NEAR(result[0], -3.6, 1e-6);
  EXPECT_NEAR(result[1], -3.2, 1e-6);
  EXPECT_NEAR(result[2], -2.8, 1e-6);

  remove_post_accumulate_grad_hook(t, second);
  log.clear();
  (void)grad({sum(t)}, {t});
  EXPECT_EQ(log, (Log{"tensor"}));
  expect_error(ErrorCode::kInvalidArgument, "only a leaf tensor accumulates gradients",
               [&] { hook_accumulated(mul(t, 2), [](const Tensor&) {}); });
}

// rule: accumulate-nothing
TEST(PostAccumulateGradHooks, DoNotRunWithoutAGradient) {
  const Tensor x = leaf(1);
  bool ran = false;
  hook_accumulated(x, [&](const Tensor&) { ran = true; });
  backward({through(x, [](GradList&& g) { return GradList(g.size()); })});
  EXPECT_FALSE(ran);
}

// rule: first-gradient-adopted
// The gradient is adopted without a copy although the engine holds a second handle for the
// post-hook.
TEST(AccumulateGrad, TakesTheGradientOverAlsoWithPostHooks) {
  const Tensor x = leaf({1, 2});
  const IntrusivePtr<Node> accumulator = grad_accumulator(x);
  bool shares = false;
  hook_after(*accumulator, [&](GradList in, const GradList& out) {
    shares = out[0].shares_storage_with(grad(x));
    return in;
  });
  backward({sum(through(x, [](GradList&&) { return GradList{tensor({3, 4})}; }))});
  EXPECT_TRUE(shares);
  EXPECT_EQ(values(grad(x)), (Values{3, 4}));
}

// rule: kept-gradient-copied
TEST(AccumulateGrad, CopiesAGradientThatAHookKept) {
  const Tensor x = leaf({1, 2});
  Tensor kept;
  hook_tensor(x, [&](const Tensor& g) {
    kept = g;
    return g;
  });
  backward({sum(through(x, [](GradList&&) { return GradList{tensor({3, 4})}; }))});
  EXPECT_FALSE(kept.shares_storage_with(grad(x)));
}

// rule: retain-grad
TEST(RetainGrad, AddsUpOutOfPlaceOverBackwardCalls) {
  expect_error(ErrorCode::kInvalidArgument, "[retainGrad] the tensor does not require a gradient",
               [] { retain_grad(tensor({1})); });
  const Tensor x = leaf(2);
  retain_grad(x);
  EXPECT_FALSE(retains_grad(x));
  const Tensor h = mul(x, 3);
  retain_grad(h);
  retain_grad(h);
  EXPECT_TRUE(retains_grad(h));
  const Tensor out = mul(h, h);
  backward({out}, {}, {.retain_graph = true});
  const Tensor first = grad(h);
  EXPECT_EQ(value(first), 12);
  backward({out});
  EXPECT_EQ(value(grad(h)), 24);
  EXPECT_EQ(value(first), 12);
}

// rule: retain-grad-weak
TEST(RetainGrad, DoesNotKeepTheTensorAlive) {
  const Tensor x = leaf(2);
  const std::int64_t tensors = testing::live_tensors();
  const std::int64_t nodes = testing::live_nodes();
  {
    Tensor y = mul(x, 2);
    retain_grad(y);
    const Tensor z = mul(y, 2);
    y.reset();
    backward({z});
  }
  // Two objects remain: the accumulator, to which x has a weak reference, and x.grad.
  EXPECT_EQ(testing::live_nodes(), nodes + 1);
  EXPECT_EQ(testing::live_tensors(), tensors + 1);
}

// rule: hooks-stay-with-value, retain-grad-moves
TEST(RetainGrad, MovesWithInPlaceOperationsWhileHooksStay) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 1);
  Values seen;
  const TensorPreHook* hook = hook_tensor(b, [&](const Tensor& g) {
    seen.push_back(value(g));
    return g;
  });
  retain_grad(b);
  call_in_place<op::Mul>(b, 3);
  hook_tensor(b, [&](const Tensor& g) {
    seen.push_back(value(g));
    return g;
  });
  const Tensor c = mul(b, 5);
  backward({c}, {}, {.retain_graph = true});
  EXPECT_EQ(seen, (Values{5, 15}));
  EXPECT_EQ(value(grad(b)), 5);
  // A hook is found in the node it was registered on.
  remove_hook(b, hook);
  seen.clear();
  backward({c});
  EXPECT_EQ(seen, (Values{5}));
}

// rule: retain-grad-moves
TEST(RetainGrad, MovesForTheBaseAndTheViewOfAnInPlaceChange) {
  const Tensor x = leaf({1, 1});
  const Tensor base = mul(x, 1);
  const Tensor view = Narrow::call(base, 0, 0, 1);
  retain_grad(base);
  retain_grad(view);
  call_in_place<op::Mul>(view, 2);
  backward({sum(mul(base, 3))}, {}, {});
  EXPECT_EQ(values(grad(base)), (Values{3, 3}));
  EXPECT_FALSE(grad(view).defined());
  EXPECT_EQ(values(grad(x)), (Values{6, 3}));
}

// rule: hook-may-nest
TEST(TensorHooks, MayCallBackward) {
  const Tensor x = leaf(2);
  const Tensor other = leaf(5);
  hook_tensor(x, [&](const Tensor& g) {
    const EnableGradGuard enable;
    backward({mul(other, other)});
    return g;
  });
  backward({mul(x, 3)});
  EXPECT_EQ(value(grad(x)), 3);
  EXPECT_EQ(value(grad(other)), 10);
}

}  // namespace
}  // namespace eg
