// markers: threads

#include "autograd/engine/engine.h"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/tensor_math.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::expect_error;
using testing::kTestDevice;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Values = std::vector<double>;

// rule: define-by-run, backward-into-leaves, vector-jacobian-product
TEST(EngineBackward, ComputesGradientsOfAnExpression) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(2);
  const Tensor z = leaf(3);
  const Tensor a = add(add(x, mul(y, z)), call<op::Div>(mul(mul(mul(z, z), 4), x), y));
  backward({a});
  EXPECT_EQ(value(grad(x)), 19);
  EXPECT_EQ(value(grad(y)), -6);
  EXPECT_EQ(value(grad(z)), 14);
}

// rule: given-gradient-copied
TEST(EngineBackward, NeverKeepsTheGradientItWasGiven) {
  const Tensor v = leaf({1, 1, 1, 1}, {2, 2});
  const Tensor gradient = tensor({1, 2, 3, 4}, {2, 2});
  backward({v}, {gradient});
  copy_data(gradient, testing::full({}, 99, DType::kFloat32));
  EXPECT_EQ(values(grad(v)), (Values{1, 2, 3, 4}));
}

// rule: grad-accumulates, grad-added-in-place
TEST(EngineBackward, AccumulatesIntoTheSameGradTensor) {
  const Tensor x = leaf(3);
  backward({mul(x, x)});
  const Tensor first = grad(x);
  EXPECT_EQ(value(first), 6);
  backward({mul(x, x)});
  EXPECT_EQ(value(grad(x)), 12);
  EXPECT_TRUE(grad(x).is_same(first));
}

// rule: backward-several-roots, graph-root
TEST(EngineBackward, TakesSeveralRootsWithGradients) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  const Tensor q = leaf(5);
  const Tensor a = leaf(2);
  const Tensor b = leaf(3);
  const Tensor q2 = mul(q, 2);
  const Tensor z = add(add(x, y), q2);
  const Tensor c = add(mul(a, b), q2);
  backward({z, c}, {tensor({10}, {}), tensor({100}, {})});
  EXPECT_EQ(value(grad(x)), 10);
  EXPECT_EQ(value(grad(y)), 10);
  EXPECT_EQ(value(grad(a)), 300);
  EXPECT_EQ(value(grad(b)), 200);
  EXPECT_EQ(value(grad(q)), 220);
}

// rule: repeated-roots, edges-into-a-slot-sum
TEST(EngineBackward, SumsARootGivenTwice) {
  const Tensor a = leaf(2);
  const Tensor b = leaf(3);
  const Tensor x = mul(a, b);
  backward({x, x}, {tensor({1}, {}), tensor({1}, {})});
  EXPECT_EQ(value(grad(a)), 6);
  EXPECT_EQ(value(grad(b)), 4);
}

// rule: dependent-roots
TEST(EngineBackward, TakesRootsThatDependOnEachOther) {
  const Tensor x = leaf(2);
  const Tensor y = mul(x, x);
  const Tensor z = mul(mul(y, y), y);
  backward({y, z}, {tensor({1}, {}), tensor({10}, {})});
  EXPECT_EQ(value(grad(x)), 1924);
}

// rule: leaves-own-gradients
TEST(EngineBackward, GivesLeavesGradientsOfTheirOwn) {
  const Tensor a = leaf(1);
  const Tensor b = leaf(1);
  backward({add(a, b)});
  call_in_place<op::Add>(grad(a), 5);
  EXPECT_EQ(value(grad(a)), 6);
  EXPECT_EQ(value(grad(b)), 1);
}

// rule: broadcast-sums
TEST(EngineBackward, SumsBroadcastDimensions) {
  const Tensor a = leaf({1, 1, 1}, {3, 1});
  const Tensor b = leaf({1, 2, 3, 4});
  backward({sum(mul(a, b))});
  EXPECT_EQ(grad(a).shape(), (Shape{3, 1}));
  EXPECT_EQ(values(grad(a)), (Values{10, 10, 10}));
  EXPECT_EQ(values(grad(b)), (Values{3, 3, 3, 3}));
}

// rule: shared-weight-sums
TEST(EngineBackward, SumsTheGradientsOfASharedWeight) {
  const Tensor w = leaf(3);
  backward({mul(mul(w, tensor({2}, {})), w)});
  EXPECT_EQ(value(grad(w)), 12);
}

// rule: empty-tensors
TEST(EngineBackward, HandlesEmptyTensors) {
  const Tensor a = leaf(std::vector<float>{}, {4, 0});
  const Tensor b = leaf({1, 1, 1, 1}, {4, 1});
  backward({sum(add(a, b))});
  EXPECT_EQ(grad(a).shape(), (Shape{4, 0}));
  EXPECT_EQ(values(grad(b)), (Values{0, 0, 0, 0}));
}

// rule: root-requires-grad, implicit-gradient-scalar-only, root-gradient-shape, root-gradient-count
TEST(EngineBackward, RefusesRootsWithoutAPathOrAnImplicitGradient) {
  expect_error(ErrorCode::kNoGradPath, "tensor 0 does not require a gradient",
               [] { backward({tensor({1})}); });
  const Tensor x = leaf({1, 2});
  expect_error(ErrorCode::kNonScalarBackward, "an output of shape [2] needs a gradient",
               [&] { backward({mul(x, 2)}); });
  expect_error(ErrorCode::kShapeMismatch, "gradient 0 has shape ",
               [&] { backward({mul(x, 2)}, {tensor({1})}); });
  expect_error(ErrorCode::kInvalidArgument, "got 1 tensors and 2 gradients",
               [&] { backward({mul(x, 2)}, {tensor({1, 2}), tensor({1, 2})}); });
  EXPECT_FALSE(grad(x).defined());
}

// rule: graph-freed, retain-graph, nothing-saved-nothing-freed
TEST(EngineRetainGraph, ASecondBackwardNeedsItUnlessNothingWasSaved) {
  const Tensor x = leaf(3);
  const Tensor y = mul(x, x);
  backward({y});
  expect_error(ErrorCode::kGraphFreed, "Pass retainGraph: true", [&] { backward({y}); });
  EXPECT_EQ(value(grad(x)), 6);

  const Tensor z = mul(x, x);
  set_grad(x, Tensor());
  backward({z}, {}, {.retain_graph = true});
  backward({z});
  EXPECT_EQ(value(grad(x)), 12);

  const Tensor w = add(x, 1);
  set_grad(x, Tensor());
  backward({w});
  backward({w});
  EXPECT_EQ(value(grad(x)), 2);
}

// rule: create-graph, retain-defaults-to-create
TEST(EngineCreateGraph, DifferentiatesToAnyOrder) {
  const Tensor x = leaf(2);
  const Tensor y = mul(mul(x, x), x);
  const GradOptions create{{.create_graph = true}};
  const Tensor g1 = grad({y}, {x}, {}, create)[0];
  const Tensor g2 = grad({g1}, {x}, {}, create)[0];
  const Tensor g3 = grad({g2}, {x})[0];
  EXPECT_EQ(value(g1), 12);
  EXPECT_EQ(value(g2), 12);
  EXPECT_EQ(value(g3), 6);
  EXPECT_FALSE(requires_grad(g3));
  EXPECT_FALSE(grad(x).defined());
}

// rule: backward-through-grad, create-graph-adds-anew
TEST(EngineCreateGraph, BackwardThroughAccumulatedGradients) {
  const Tensor x = leaf(2);
  const Tensor y = leaf(3);
  const Tensor z = add(add(mul(x, x), mul(x, y)), mul(y, y));
  backward({z}, {}, {.create_graph = true});
  EXPECT_EQ(value(grad(x)), 7);
  EXPECT_EQ(value(grad(y)), 8);
  const Tensor mixed = add(mul(grad(x), 2), grad(y));
  backward({mixed});
  EXPECT_EQ(value(grad(x)), 12);
  EXPECT_EQ(value(grad(y)), 12);
  // param.grad -> graph -> param is a cycle; clearing the gradients breaks it.
  set_grad(x, Tensor());
  set_grad(y, Tensor());
}

// rule: inputs-on-one-path, repeated-inputs, captures
TEST(EngineGrad, CapturesInputsOnOnePathAndTwice) {
  const Tensor x = leaf(3);
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, 2);
  const TensorList grads = grad({z}, {y, x, x});
  EXPECT_EQ(value(grads[0]), 2);
  EXPECT_EQ(value(grads[1]), 12);
  EXPECT_EQ(value(grads[2]), 12);
}

// rule: runs-only-needed
TEST(EngineGrad, RunsOnlyWhatLeadsToTheInputs) {
  const Tensor a = leaf(1);
  const Tensor b = leaf(1);
  bool ran = false;
  const Tensor off_path = through(b, [&](GradList&& g) {
    ran = true;
    return std::move(g);
  });
  const Tensor out = add(mul(a, 2), off_path);
  EXPECT_EQ(value(grad({out}, {a}, {}, {{.retain_graph = true}})[0]), 2);
  EXPECT_FALSE(ran);
  EXPECT_EQ(value(grad({out}, {b})[0]), 1);
  EXPECT_TRUE(ran);
}

// rule: unused-inputs, inputs-not-empty, inputs-require-grad
TEST(EngineGrad, UnusedInputsAreAnErrorUnlessAllowed) {
  const Tensor x = leaf(1);
  const Tensor unused = leaf(1);
  const Tensor y = add(x, 1);
  expect_error(ErrorCode::kUnusedInput, "the outputs do not depend on input ",
               [&] { (void)grad({y}, {unused}, {}, {{.retain_graph = true}}); });
  const TensorList grads = grad({y}, {x, unused}, {}, {{}, true});
  EXPECT_TRUE(grads[0].defined());
  EXPECT_FALSE(grads[1].defined());
  expect_error(ErrorCode::kInvalidArgument, "[grad] inputs must not be empty",
               [&] { (void)grad({y}, {}); });
  expect_error(ErrorCode::kInvalidArgument, "[backward] inputs must not be empty",
               [&] { backward({y}, {}, {}, TensorList{}); });
  expect_error(ErrorCode::kNoGradPath, "does not require a gradient",
               [&] { (void)grad({y}, {tensor({1})}); });
}

// rule: backward-inputs
TEST(EngineBackward, InputsRestrictsWhoReceivesGradients) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  backward({add(mul(x, 2), mul(y, 3))}, {}, {}, TensorList{y});
  EXPECT_FALSE(grad(x).defined());
  EXPECT_EQ(value(grad(y)), 3);
}

// rule: newest-node-first
TEST(EngineOrder, RunsNewerNodesFirstAndAccumulatorsAtOnce) {
  const Tensor a = leaf(1);
  const Tensor b = leaf(1);
  std::vector<std::string> order;
  const auto logged = [&](const Tensor& x, const std::string& label) {
    return through(x, [&order, label](GradList&& g) {
      order.push_back(label);
      return std::move(g);
    });
  };
  const Tensor older = logged(a, "older");
  const Tensor newer = logged(b, "newer");
  const Tensor out = add(older, newer);
  backward({out});
  EXPECT_EQ(order, (std::vector<std::string>{"newer", "older"}));
}

// rule: missing-means-zero, accumulate-nothing
TEST(EngineBackward, UndefinedGradientsReachNoLeaf) {
  const Tensor x = leaf(1);
  backward({through(x, [](GradList&& g) { return GradList(g.size()); })});
  EXPECT_FALSE(grad(x).defined());
}

// rule: error-reaches-caller, engine-usable-after-error
TEST(EngineErrors, TheFirstErrorReachesTheCallerAndTheEngineGoesOn) {
  const Tensor x = leaf(3);
  for (int round = 0; round < 100; ++round) {
    const Tensor failing =
        through(x, [](GradList&&) -> GradList { throw std::runtime_error("Boom!"); });
    EXPECT_THROW(backward({add(mul(x, x), failing)}), std::runtime_error);
  }
  EXPECT_EQ(Engine::current_graph_task_id(), -1);
  set_grad(x, Tensor());
  backward({mul(x, x)});
  EXPECT_EQ(value(grad(x)), 6);
}

// rule: gradient-wrong-shape, gradient-count
TEST(EngineErrors, GradientsOfTheWrongShapeOrCountAreRefused) {
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  expect_error(
      ErrorCode::kInvalidGradient,
      "gradient 0 returned by FunctionalBackward has shape [3], expected [2, 2]",
      [&] { backward({sum(through(x, [](GradList&&) { return GradList{tensor({1, 2, 3})}; }))}); });
  expect_error(ErrorCode::kInvalidGradient, "returned 2 gradients, expected 1", [&] {
    backward({sum(through(x, [](GradList&& g) { return GradList{g[0], g[0]}; }))});
  });
}

// rule: gradient-summed-to-shape, gradient-cast
TEST(EngineBackward, FitsGradientsOfOtherDtypesAndLargerShapes) {
  const Tensor x = leaf({1, 2});
  backward(
      {sum(through(x, [](GradList&&) { return GradList{tensor<double>({1, 2, 3, 4}, {2, 2})}; }))});
  EXPECT_EQ(grad(x).dtype(), DType::kFloat32);
  EXPECT_EQ(values(grad(x)), (Values{4, 6}));
}

// rule: nested-backward, nested-grad-mode
TEST(EngineReentrancy, ANodeMayCallBackwardAndKeepsItsGradMode) {
  const Tensor x = leaf(2);
  const Tensor inner = leaf(5);
  const Tensor y = through(x, [&](GradList&& g) {
    EXPECT_FALSE(is_grad_enabled());
    {
      const EnableGradGuard enable;
      backward({mul(inner, inner)});
    }
    EXPECT_FALSE(is_grad_enabled());
    return std::move(g);
  });
  backward({mul(y, 3)});
  EXPECT_EQ(value(grad(x)), 3);
  EXPECT_EQ(value(grad(inner)), 10);
}

// rule: callback-runs-last, callback-queues-more, callback-only-in-backward
TEST(EngineCallbacks, RunOnceAfterAllNodesAndMayQueueMore) {
  const Tensor x = leaf(2);
  std::vector<std::string> log;
  const Tensor y = through(x, [&](GradList&& g) {
    Engine::instance().queue_callback([&] {
      log.push_back("first:" + std::to_string(static_cast<int>(value(grad(x)))));
      Engine::instance().queue_callback([&] { log.push_back("second"); });
    });
    return std::move(g);
  });
  backward({mul(y, 3)});
  EXPECT_EQ(log, (std::vector<std::string>{"first:3", "second"}));
  expect_error(ErrorCode::kInvalidArgument,
               "[queueCallback] can only be called during a backward call",
               [] { Engine::instance().queue_callback([] {}); });
}

// rule: failed-call-leaks-nothing
TEST(EngineMemory, TenThousandFailingBackwardsLeaveNothingBehind) {
  const Tensor x = leaf(3);
  const std::int64_t nodes = testing::live_nodes();
  const std::int64_t tensors = testing::live_tensors();
  for (int i = 0; i < 10'000; ++i) {
    const Tensor failing =
        through(x, [](GradList&&) -> GradList { throw std::runtime_error("Boom!"); });
    EXPECT_THROW(backward({mul(failing, failing)}), std::runtime_error);
  }
  EXPECT_LE(testing::live_nodes(), nodes + 1);
  EXPECT_LE(testing::live_tensors(), tensors + 1);
}

#if EG_THREADS

// rule: threads-share-a-leaf, one-accumulator-per-leaf, concurrent-calls
TEST(EngineConcurrency, ManyThreadsAccumulateIntoOneLeaf) {
  constexpr int kCallers = 10;
  const Tensor x = leaf(std::vector<float>(25, 1), {5, 5});
  std::vector<std::thread> threads;
  for (int i = 0; i < kCallers; ++i) {
    threads.emplace_back([&] { backward({sum(mul(mul(add(x, 3), add(x, 4)), 0.5))}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values(grad(x)), Values(25, 45));
}

// rule: shared-graph-retained
TEST(EngineConcurrency, ASharedGraphServesEveryThreadWhenRetained) {
  const Tensor x = leaf(std::vector<float>(4, 1), {4});
  const Tensor y = add(x, mul(x, x));
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&] { backward({sum(add(y, mul(y, y)))}, {}, {.retain_graph = true}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values(grad(x)), Values(4, 75));
}

// rule: shared-graph-freed, nodes-lock-their-state
TEST(EngineConcurrency, ASharedGraphWithoutRetainFailsCleanly) {
  for (int round = 0; round < 20; ++round) {
    const Tensor x = leaf(std::vector<float>(4, 1), {4});
    const Tensor y = add(x, mul(x, x));
    std::atomic<int> succeeded{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        try {
          backward({sum(add(y, mul(y, y)))});
          ++succeeded;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kGraphFreed) << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(succeeded.load(), 1);
  }
}

// rule: device-threads, cpu-nodes-come-home, owner-woken
TEST(EngineDevices, NodesRunOnTheThreadOfTheirDevice) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2, 3});
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 1000; ++round) {
    std::thread::id device_thread;
    std::thread::id cpu_thread;
    const Tensor on_cpu = through(x, [&](GradList&& g) {
      cpu_thread = std::this_thread::get_id();
      return GradList{math::to_device(g[0], {})};
    });
    Tensor on_device = math::to_device(on_cpu, kTestDevice);
    on_device = through(on_device, [&](GradList&& g) {
      device_thread = std::this_thread::get_id();
      return std::move(g);
    });
    backward({sum(call<op::Mul>(on_device, on_device))});
    EXPECT_EQ(cpu_thread, caller);
    EXPECT_NE(device_thread, caller);
  }
  EXPECT_EQ(values(grad(x)), (Values{2000, 4000, 6000}));
  Engine::instance().stop();
}

// rule: error-reaches-caller
TEST(EngineDevices, ErrorsOnADeviceThreadReachTheCaller) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2, 3}, {3}, kTestDevice);
  for (int round = 0; round < 100; ++round) {
    const Tensor failing =
        through(x, [](GradList&&) -> GradList { throw std::runtime_error("Boom!"); });
    EXPECT_THROW(backward({sum(failing)}), std::runtime_error);
  }
  Engine::instance().stop();
}

// rule: threads-start-and-stop
TEST(EngineDevices, StopEndsTheThreadsAndTheyStartAgain) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  backward({sum(mul(x, x))});
  Engine::instance().stop();
  Engine::instance().stop();
  backward({sum(mul(x, x))});
  EXPECT_EQ(values(grad(x)), (Values{4, 8}));
  Engine::instance().stop();
}

TEST(EngineDevices, AThreadStartedAheadRunsWhatComesFirst) {
  const testing::DefaultDeviceGuard cpu_default({});
  Engine& engine = Engine::instance();
  // An earlier test may have started it.
  engine.stop();
  std::promise<std::thread::id> started;
  engine.start_ahead(kTestDevice.index, [&] { started.set_value(std::this_thread::get_id()); });
  const std::thread::id thread = started.get_future().get();
  EXPECT_NE(thread, std::this_thread::get_id());

  // It is already running, so there is nothing to wait for.
  std::thread::id again;
  engine.start_ahead(kTestDevice.index, [&] { again = std::this_thread::get_id(); });
  EXPECT_EQ(again, std::this_thread::get_id());

  std::thread::id used;
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  backward({sum(through(x, [&](GradList&& grads) {
    used = std::this_thread::get_id();
    return std::move(grads);
  }))});
  EXPECT_EQ(used, thread);
  engine.stop();
}

#endif

}  // namespace
}  // namespace eg
