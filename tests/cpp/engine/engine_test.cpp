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

// CC-004, A.1, B.1, B.2
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

// CC-003, F.2, trap 26
TEST(EngineBackward, NeverKeepsTheGradientItWasGiven) {
  const Tensor v = leaf({1, 1, 1, 1}, {2, 2});
  const Tensor gradient = tensor({1, 2, 3, 4}, {2, 2});
  backward({v}, {gradient});
  copy_data(gradient, testing::full({}, 99, DType::kFloat32));
  EXPECT_EQ(values(grad(v)), (Values{1, 2, 3, 4}));
}

// CC-005, F.3, F.6
TEST(EngineBackward, AccumulatesIntoTheSameGradTensor) {
  const Tensor x = leaf(3);
  backward({mul(x, x)});
  const Tensor first = grad(x);
  EXPECT_EQ(value(first), 6);
  backward({mul(x, x)});
  EXPECT_EQ(value(grad(x)), 12);
  EXPECT_TRUE(grad(x).is_same(first));
}

// CC-006, A.17, B.2
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

// CC-007, A.5, B.17, C.12
TEST(EngineBackward, SumsARootGivenTwice) {
  const Tensor a = leaf(2);
  const Tensor b = leaf(3);
  const Tensor x = mul(a, b);
  backward({x, x}, {tensor({1}, {}), tensor({1}, {})});
  EXPECT_EQ(value(grad(a)), 6);
  EXPECT_EQ(value(grad(b)), 4);
}

// CC-008, B.17
TEST(EngineBackward, TakesRootsThatDependOnEachOther) {
  const Tensor x = leaf(2);
  const Tensor y = mul(x, x);
  const Tensor z = mul(mul(y, y), y);
  backward({y, z}, {tensor({1}, {}), tensor({10}, {})});
  EXPECT_EQ(value(grad(x)), 1924);
}

// CC-010
TEST(EngineBackward, GivesLeavesGradientsOfTheirOwn) {
  const Tensor a = leaf(1);
  const Tensor b = leaf(1);
  backward({add(a, b)});
  call_in_place<op::Add>(grad(a), 5);
  EXPECT_EQ(value(grad(a)), 6);
  EXPECT_EQ(value(grad(b)), 1);
}

// CC-012, F.8
TEST(EngineBackward, SumsBroadcastDimensions) {
  const Tensor a = leaf({1, 1, 1}, {3, 1});
  const Tensor b = leaf({1, 2, 3, 4});
  backward({sum(mul(a, b))});
  EXPECT_EQ(grad(a).shape(), (Shape{3, 1}));
  EXPECT_EQ(values(grad(a)), (Values{10, 10, 10}));
  EXPECT_EQ(values(grad(b)), (Values{3, 3, 3, 3}));
}

// CC-013
TEST(EngineBackward, SumsTheGradientsOfASharedWeight) {
  const Tensor w = leaf(3);
  backward({mul(mul(w, tensor({2}, {})), w)});
  EXPECT_EQ(value(grad(w)), 12);
}

// CC-017
TEST(EngineBackward, HandlesEmptyTensors) {
  const Tensor a = leaf(std::vector<float>{}, {4, 0});
  const Tensor b = leaf({1, 1, 1, 1}, {4, 1});
  backward({sum(add(a, b))});
  EXPECT_EQ(grad(a).shape(), (Shape{4, 0}));
  EXPECT_EQ(values(grad(b)), (Values{0, 0, 0, 0}));
}

// CC-019, CC-021, B.5, B.9
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

// CC-030, CC-031, CC-032, B.19
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

// CC-035, B.4, B.20
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

// CC-036
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

// CC-039, CC-043, C.15, C.16, D.4, trap 5
TEST(EngineGrad, CapturesInputsOnOnePathAndTwice) {
  const Tensor x = leaf(3);
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, 2);
  const TensorList grads = grad({z}, {y, x, x});
  EXPECT_EQ(value(grads[0]), 2);
  EXPECT_EQ(value(grads[1]), 12);
  EXPECT_EQ(value(grads[2]), 12);
}

// CC-042, CC-049, C.14, D.4, trap 6
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

// B.12
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

// CC-027, B.16
TEST(EngineBackward, InputsRestrictsWhoReceivesGradients) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  backward({add(mul(x, 2), mul(y, 3))}, {}, {}, TensorList{y});
  EXPECT_FALSE(grad(x).defined());
  EXPECT_EQ(value(grad(y)), 3);
}

// CC-051, CC-054, C.27, trap 1
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

// CC-016 and rule A.15: undefined flows through as zero.
TEST(EngineBackward, UndefinedGradientsReachNoLeaf) {
  const Tensor x = leaf(1);
  backward({through(x, [](GradList&& g) { return GradList(g.size()); })});
  EXPECT_FALSE(grad(x).defined());
}

// CC-113, CC-117, C.9, D.5, E.8, E.9, traps 9 18
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

// CC-154, CC-157, F.7
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

// CC-155, CC-156, F.7, trap 63
TEST(EngineBackward, FitsGradientsOfOtherDtypesAndLargerShapes) {
  const Tensor x = leaf({1, 2});
  backward(
      {sum(through(x, [](GradList&&) { return GradList{tensor<double>({1, 2, 3, 4}, {2, 2})}; }))});
  EXPECT_EQ(grad(x).dtype(), DType::kFloat32);
  EXPECT_EQ(values(grad(x)), (Values{4, 6}));
}

// CC-119, CC-116, E.1, E.2, D.6
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

// CC-122, C.21, E.12
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

// Trap 17
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

// CC-123, A.7, E.10, E.11, trap 21
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

// CC-124, E.13
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

// E.13, E.14, trap 22
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

// CC-173, C.1, C.5, C.20, D.12, trap 10
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

// CC-172, C.2, E.16
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
