// markers: threads

// Tensors, nodes and modes that several threads hold at once: one test for each row of the table in
// src/tensor/README.md. ThreadSanitizer detects data races; the assertions check only the results.

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/saved_variable.h"
#include "autograd/held_modes.h"
#include "dispatch/handles/handle_table.h"
#include "dispatch/in_place.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/tensors.h"

#if EG_THREADS

namespace eg {
namespace {

using testing::clone;
using testing::expect_error;
using testing::hook_accumulated;
using testing::hook_tensor;
using testing::leaf;
using testing::mul;
using testing::mul_;
using testing::narrow;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Values = std::vector<double>;

constexpr int kRounds = 200;

/// Runs functions concurrently, each on its own thread.
void at_once(const std::vector<std::function<void()>>& functions) {
  std::atomic<int> waiting{static_cast<int>(functions.size())};
  std::vector<std::thread> threads;
  for (const auto& function : functions) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting.load() > 0) std::this_thread::yield();
      function();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// A function that is run many times.
std::function<void()> often(std::function<void()> function) {
  return [function = std::move(function)] {
    for (int round = 0; round < kRounds; ++round) function();
  };
}

const BackwardOptions kRetained{.retain_graph = true};

// rule: threads-share-a-leaf
TEST(SharedTensors, AddAllGradientsOfAllThreads) {
  const Tensor w = leaf({1, 2});
  const auto train = often([&] { backward({sum(mul(w, 3))}); });
  at_once({train, train, train});
  EXPECT_EQ(values(grad(w)), (Values{9 * kRounds, 9 * kRounds}));
}

TEST(SharedTensors, LetGradientsBeReadAndSetWhileOthersAdd) {
  const Tensor w = leaf({1, 2});
  const auto train = often([&] {
    set_grad(w, {});
    backward({sum(mul(w, 3))});
  });
  const auto train_with_history = often([&] {
    set_grad(w, {});
    backward({sum(mul(mul(w, w), 3))}, {}, {.create_graph = true});
  });
  at_once({train, train_with_history, often([&] {
             const Tensor gradient = grad(w);
             EXPECT_TRUE(!gradient.defined() || gradient.shape() == w.shape());
             EXPECT_FALSE(gradient.defined() && is_inference(gradient));
           }),
           often([&] { set_grad(w, tensor({0, 0})); })});
  set_grad(w, {});
}

TEST(SharedTensors, LoseNoGradientOfAResult) {
  const Tensor x = leaf({1, 1});
  const Tensor y = mul(x, 2);
  retain_grad(y);
  const Tensor loss = sum(y);
  const auto call = often([&] { backward({loss}, {}, kRetained); });
  at_once({call, call, call});
  EXPECT_EQ(values(grad(y)), (Values{3 * kRounds, 3 * kRounds}));
  EXPECT_EQ(values(grad(x)), (Values{6 * kRounds, 6 * kRounds}));
}

TEST(SharedTensors, GetTheirMetadataFromWhoeverIsFirst) {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = tensor({1, 2});
    at_once({[&] { set_requires_grad(x, true); }, [&] { set_grad(x, tensor({5, 5})); },
             [&] { (void)requires_grad(mul(x, 2)); }});
    EXPECT_TRUE(requires_grad(x));
    EXPECT_EQ(values(grad(x)), (Values{5, 5}));
  }
}

TEST(SharedTensors, MayChangeWhetherTheyRequireGradients) {
  const Tensor x = leaf({1, 2});
  std::atomic<int> recorded{0};
  at_once({often([&] { set_requires_grad(x, false); }), often([&] { set_requires_grad(x, true); }),
           often([&] {
             const Tensor y = sum(mul(x, 2));
             if (!requires_grad(y)) return;
             ++recorded;
             backward({y});
           })});
  set_requires_grad(x, true);
  EXPECT_EQ(value(grad({sum(mul(x, 3))}, {x})[0]), 3);
}

TEST(SharedTensors, TakeAndLoseHooksWhileTheyRun) {
  const Tensor x = leaf({1, 2});
  const Tensor y = mul(x, 2);
  const Tensor loss = sum(y);
  const auto change = often([&] {
    const TensorPreHook* of_leaf = hook_tensor(x, [](const Tensor& g) { return g; });
    const TensorPreHook* of_result = hook_tensor(y, [](const Tensor& g) { return g; });
    const auto* accumulated = hook_accumulated(x, [](const Tensor&) {});
    remove_hook(x, of_leaf);
    remove_hook(y, of_result);
    remove_post_accumulate_grad_hook(x, accumulated);
  });
  at_once({change, change, often([&] { backward({loss}, {}, kRetained); })});
  EXPECT_EQ(values(grad(x)), (Values{2 * kRounds, 2 * kRounds}));
}

// rule: one-accumulator-per-leaf
TEST(SharedTensors, FindOrMakeOneAccumulator) {
  const Tensor x = leaf({1, 2});
  const auto make = often([&] {
    const Tensor y = mul(x, 2);
    EXPECT_EQ(gradient_edge(x).function.get(), grad_fn(y)->next_edge(0).function.get());
    (void)try_grad_accumulator(x);
  });
  at_once({make, make, make});
  EXPECT_EQ(try_grad_accumulator(x), nullptr);
}

TEST(SharedTensors, KeepTheHistoriesOfBaseAndViewsInStep) {
  for (int round = 0; round < kRounds / 10; ++round) {
    const Tensor x = leaf({1, 2, 3, 4});
    const Tensor base = clone(x);
    const Tensor changed = narrow(base, 0, 0, 2);
    const Tensor watched = narrow(base, 0, 2, 2);
    retain_grad(watched);
    at_once({[&] {
               for (int i = 0; i < 5; ++i) mul_(changed, 2);
             },
             often([&] {
               EXPECT_TRUE(requires_grad(watched));
               EXPECT_NE(grad_fn(watched), nullptr);
               (void)output_nr(watched);
             }),
             often([&] { EXPECT_TRUE(gradient_edge(base).is_valid()); })});
    backward({sum(base)});
    EXPECT_EQ(values(grad(x)), (Values{32, 32, 1, 1}));
  }
}

TEST(SharedTensors, MayBeDetachedWhileOthersRecord) {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor y = mul(x, 2);
    at_once({[&] { detach_in_place(y); }, [&] { (void)requires_grad(mul(y, 3)); },
             [&] { (void)gradient_edge(y); }});
    EXPECT_FALSE(requires_grad(y));
  }
}

TEST(SharedTensors, HaveATangentOfTheirLevelOnly) {
  const Tensor w = tensor({1, 2});
  const Tensor view = narrow(w, 0, 0, 1);
  const auto look = often([&] {
    const DualLevelGuard level;
    EXPECT_FALSE(tangent(w).defined());
    const Tensor dual = make_dual(w, tensor({3, 4}));
    EXPECT_EQ(values(tangent(mul(dual, 2))), (Values{6, 8}));
    set_tangent(w, tensor({5, 6}));
    (void)tangent(view);
  });
  at_once({look, look, often([&] { EXPECT_FALSE(tangent(view).defined()); })});
}

class KeepingHooks final : public SavedVariableHooks {
 public:
  void pack(const Tensor& t) override { kept_ = t; }
  Tensor unpack() override { return kept_; }

 private:
  Tensor kept_;
};

// rule: nodes-lock-their-state
TEST(SharedNodes, LetHooksKeepWhatTheySavedWhileTheyRun) {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor y = mul(x, x);
    const IntrusivePtr<Node> node = grad_fn(y);
    const Tensor loss = sum(y);
    at_once({[&] { backward({loss}, {}, kRetained); },
             [&] {
               for (const auto& saved : node->saved_variables()) {
                 saved.variable->register_hooks(*node, std::make_unique<KeepingHooks>());
               }
             },
             [&] { (void)node->saved_variables()[0].variable->unpack(*node); }});
    EXPECT_EQ(values(grad(x)), (Values{2, 4}));
  }
}

// rule: shared-graph-freed
TEST(SharedNodes, RunForOneCallAndAreFreedByAnother) {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({1, 2});
    const Tensor loss = sum(mul(x, x));
    std::atomic<int> done{0};
    const auto call = [&] {
      try {
        backward({loss});
        ++done;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kGraphFreed);
      }
    };
    at_once({call, call});
    EXPECT_GE(done, 1);
  }
}

TEST(SharedNodes, KeepSomethingOfEachObserver) {
  const Tensor y = mul(leaf(1), 2);
  const IntrusivePtr<Node> node = grad_fn(y);
  const auto look = often([&] {
    EXPECT_NE(
        node->ensure_user_data([]() -> std::shared_ptr<void> { return std::make_shared<int>(1); }),
        nullptr);
    EXPECT_NE(node->user_data(), nullptr);
  });
  at_once({look, look});
}

TEST(HeldModes, OutliveTheirScopes) {
  const std::int64_t tensors = testing::live_tensors();
  {
    std::unique_ptr<HeldModes> held;
    const auto alive = std::make_shared<int>(1);
    Tensor dual;
    {
      const SavedTensorHooksGuard hooks([alive] { return std::make_unique<KeepingHooks>(); });
      const SavedTensorHooksGuard inner([alive] { return std::make_unique<KeepingHooks>(); });
      const DualLevelGuard level;
      dual = make_dual(tensor({1, 2}), tensor({3, 4}));
      held = std::make_unique<HeldModes>();
    }
    EXPECT_FALSE(has_default_saved_tensor_hooks());
    EXPECT_FALSE(ops_carry_tangents());
    std::thread([&] {
      const AutogradStateGuard modes(held->state());
      EXPECT_NE(make_default_saved_tensor_hooks(), nullptr);
      EXPECT_EQ(values(tangent(dual)), (Values{3, 4}));
      // A mode of this function, in addition to those it inherits.
      const SavedTensorHooksGuard own([] { return std::make_unique<KeepingHooks>(); });
      EXPECT_NE(make_default_saved_tensor_hooks(), nullptr);
    }).join();
    held.reset();
    EXPECT_EQ(alive.use_count(), 1);
    const DualLevelGuard another;
    EXPECT_FALSE(tangent(dual).defined());
  }
  EXPECT_EQ(testing::live_tensors(), tensors);
}

TEST(InferenceMode, LeavesModesAloneThatBeganInsideOfIt) {
  auto inference = std::make_unique<InferenceModeGuard>();
  push_saved_tensor_hooks([] { return std::make_unique<KeepingHooks>(); });
  inference.reset();
  EXPECT_TRUE(has_default_saved_tensor_hooks());
  inference = std::make_unique<InferenceModeGuard>();
  pop_saved_tensor_hooks();
  inference.reset();
  EXPECT_FALSE(has_default_saved_tensor_hooks());
  EXPECT_TRUE(ops_are_recorded());
}

TEST(GraphTask, LetsGoOfWhatItKeepsHoweverItEnds) {
  const auto kept = std::make_shared<int>(1);
  const Tensor x = leaf(1);
  const auto keeping = [&](bool fails) {
    return through(x, [&kept, fails](GradList&& grads) {
      Engine::keep_with_call(kept);
      EXPECT_GT(kept.use_count(), 1);
      if (fails) throw std::runtime_error("no");
      return grads;
    });
  };
  backward({keeping(false)});
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_THROW(backward({keeping(true)}), std::runtime_error);
  EXPECT_EQ(kept.use_count(), 1);
}

// Shape and strides may only change while one thread holds the tensor.
TEST(SharedTensors, KeepTheirShapeWhileAnotherThreadHoldsThem) {
  HandleTable& handles = HandleTable::instance();
  const Tensor t = tensor({1, 2, 3, 4}, {2, 2});
  const Handle here = handles.insert(t);
  const Handle there = handles.insert(t);
  (void)apply_in_place<Transpose>(t, 0, 1);
  handles.set_owner(there, 12345);
  expect_error(ErrorCode::kInvalidArgument, "shared with another thread",
               [&] { (void)apply_in_place<Transpose>(t, 0, 1); });
  handles.release(there);
  (void)apply_in_place<Transpose>(t, 0, 1);
  handles.release(here);
}

}  // namespace
}  // namespace eg

#endif
