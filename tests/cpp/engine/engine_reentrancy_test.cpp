// markers: threads

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/tensor_math.h"
#include "runtime/background.h"
#include "runtime/native_stack.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/tensors.h"
#include "support/warnings.h"

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
using testing::WarningRecorder;
using Log = std::vector<std::string>;

// The identity on `x`, whose backward makes a nested backward call through `depth` more of these.
Tensor nested(const Tensor& x, int depth) {
  return through(x, [depth](GradList&& g) {
    if (depth > 0) {
      const EnableGradGuard enable;
      const Tensor inner = leaf(1);
      backward({nested(inner, depth - 1)});
      EXPECT_EQ(value(grad(inner)), 1);
    }
    return std::move(g);
  });
}

// rule: deep-nesting, stack-threads-reused
TEST(EngineReentrancy, TwoThousandNestedCallsUseBoundedStacks) {
  constexpr int kDepth = kCanContinueOnAnotherStack ? 2000 : 500;
  const Tensor v = leaf(1);
  backward({nested(v, kDepth)});
  EXPECT_EQ(value(grad(v)), 1);
  const int threads = background_thread_count();
  EXPECT_LE(threads, kDepth / 61 + 1);
  if (kCanContinueOnAnotherStack) {
    EXPECT_GT(threads, 0);
  }
  // Depth 200 reuses idle threads. One may still be finishing, so one new thread is allowed.
  set_grad(v, Tensor());
  backward({nested(v, 200)});
  EXPECT_EQ(value(grad(v)), 1);
  EXPECT_LE(background_thread_count(), threads + 1);
}

// rule: nested-error, engine-usable-after-error
TEST(EngineReentrancy, AnErrorComesUpThroughAllStacks) {
  const Tensor v = leaf(1);
  std::function<Tensor(const Tensor&, int)> build = [&](const Tensor& x, int depth) {
    return through(x, [&build, depth](GradList&& g) -> GradList {
      if (depth == 0) throw std::runtime_error("Boom!");
      const EnableGradGuard enable;
      backward({build(leaf(1), depth - 1)});
      return std::move(g);
    });
  };
  EXPECT_THROW(backward({build(v, 150)}), std::runtime_error);
  EXPECT_FALSE(grad(v).defined());
  EXPECT_EQ(Engine::current_graph_task_id(), -1);
  backward({mul(v, 2)});
  EXPECT_EQ(value(grad(v)), 2);
}

// rule: nested-loop-runs-siblings
TEST(EngineReentrancy, ManySiblingsMayAllNest) {
  const Tensor x = leaf(1);
  Tensor total = nested(x, 1);
  for (int i = 0; i < 100; ++i) total = add(total, nested(x, 1));
  backward({total});
  EXPECT_EQ(value(grad(x)), 101);
}

// rule: nested-first
TEST(EngineReentrancy, NestedTasksRunBeforeThoseOfTheParent) {
  const Tensor x = leaf(1);
  Log log;
  const auto logged = [&](const Tensor& t, const std::string& label) {
    return through(t, [&log, label](GradList&& g) {
      log.push_back(label);
      return std::move(g);
    });
  };
  const Tensor older = logged(x, "outer");
  const Tensor newer = through(x, [&](GradList&& g) {
    const EnableGradGuard enable;
    const Tensor y = leaf(1);
    backward({logged(logged(y, "inner 2"), "inner 1")});
    return std::move(g);
  });
  backward({add(older, newer)});
  EXPECT_EQ(log, (Log{"inner 1", "inner 2", "outer"}));
}

// rule: nested-grad-mode, create-graph
TEST(EngineReentrancy, RestoresTheGradModeOfTheNode) {
  const Tensor x = leaf(2);
  for (const bool create_graph : {false, true}) {
    const Tensor y = through(x, [&](GradList&& g) {
      EXPECT_EQ(is_grad_enabled(), create_graph);
      {
        const EnableGradGuard enable;
        const Tensor z = leaf(3);
        EXPECT_EQ(value(grad({mul(z, z)}, {z})[0]), 6);
      }
      EXPECT_EQ(is_grad_enabled(), create_graph);
      return std::move(g);
    });
    (void)grad({y}, {x}, {}, {{.create_graph = create_graph}});
  }
}

// rule: callback-of-its-call
TEST(EngineCallbacks, BelongToTheCallThatQueuedThem) {
  Log log;
  const auto run = [&](bool queue_outer, bool queue_inner) {
    log.clear();
    const Tensor x = leaf(2);
    const Tensor y = through(x, [&, queue_outer, queue_inner](GradList&& g) {
      if (queue_outer) Engine::queue_callback([&] { log.push_back("outer"); });
      const EnableGradGuard enable;
      backward({through(leaf(1), [&, queue_inner](GradList&& inner) {
        if (queue_inner) Engine::queue_callback([&] { log.push_back("inner"); });
        return std::move(inner);
      })});
      log.push_back("nested done");
      return std::move(g);
    });
    backward({y});
    return log;
  };
  EXPECT_EQ(run(true, false), (Log{"nested done", "outer"}));
  EXPECT_EQ(run(false, true), (Log{"inner", "nested done"}));
  EXPECT_EQ(run(true, true), (Log{"inner", "nested done", "outer"}));
}

// rule: callback-error
TEST(EngineCallbacks, AnErrorOrABackwardInsideOneIsTheCalls) {
  const Tensor x = leaf(2);
  const Tensor other = leaf(3);
  const auto with_callback = [&](std::function<void()> callback) {
    return through(x, [callback = std::move(callback)](GradList&& g) {
      Engine::queue_callback(callback);
      return std::move(g);
    });
  };
  EXPECT_THROW(backward({with_callback([] { throw std::runtime_error("Boom!"); })}),
               std::runtime_error);
  backward({with_callback([&] {
    EXPECT_FALSE(is_grad_enabled());
    const EnableGradGuard enable;
    backward({mul(other, other)});
  })});
  EXPECT_EQ(value(grad(other)), 6);
}

// rule: graph-task-id, current-node
TEST(EngineQueries, NumberTheRunningCall) {
  const Tensor x = leaf(1);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 3; ++i) {
    backward({through(x, [&](GradList&& g) {
      ids.push_back(Engine::current_graph_task_id());
      EXPECT_EQ(Engine::current_node()->name(), "FunctionalBackward");
      return std::move(g);
    })});
  }
  EXPECT_EQ(ids[1], ids[0] + 1);
  EXPECT_EQ(ids[2], ids[0] + 2);
  EXPECT_EQ(Engine::current_graph_task_id(), -1);
  EXPECT_EQ(Engine::current_node(), nullptr);
}

// rule: execution-order
TEST(EngineQueries, PredictTheOrderOfExecution) {
  const Tensor a = leaf(1);
  const Tensor b = mul(a, 2);
  const Tensor o1 = call<op::Sin>(b);
  const Tensor o2 = call<op::Cos>(b);
  const Tensor o3 = call<op::Cos>(b);
  std::vector<IntrusivePtr<Node>> predicted;
  testing::hook_tensor(o3, [&](const Tensor& g) {
    predicted = Engine::current_graph_task_execution_order();
    return g;
  });
  expect_error(ErrorCode::kInvalidArgument, "needs a backward call without multithreading",
               [&] { (void)grad({o1, o3, o2}, {a}, {}, {{.retain_graph = true}}); });
  set_multithreading_enabled(false);
  (void)grad({o1, o3, o2}, {a});
  set_multithreading_enabled(true);
  const std::vector<IntrusivePtr<Node>> expected{grad_fn(o3), grad_fn(o2), grad_fn(o1), grad_fn(b),
                                                 grad_accumulator(a)};
  EXPECT_TRUE(predicted == expected);
  expect_error(ErrorCode::kInvalidArgument, "can only be called during a backward call",
               [] { (void)Engine::current_graph_task_execution_order(); });
}

// rule: will-execute-node
TEST(EngineQueries, TellWhichNodesTheCallRuns) {
  const Tensor x = leaf(1);
  const Tensor y = leaf(1);
  const Tensor a = mul(x, 2);
  const Tensor b = mul(y, 2);
  const Tensor out = add(a, b);
  const Tensor elsewhere = mul(out, 2);
  std::vector<bool> answers;
  testing::hook_tensor(out, [&](const Tensor& g) {
    answers = {Engine::will_execute_node(*grad_fn(a)), Engine::will_execute_node(*grad_fn(b)),
               Engine::will_execute_node(*grad_fn(elsewhere))};
    return g;
  });
  backward({out}, {}, {.retain_graph = true});
  EXPECT_EQ(answers, (std::vector<bool>{true, true, false}));
  backward({out}, {}, {.retain_graph = true}, TensorList{y});
  EXPECT_EQ(answers, (std::vector<bool>{false, true, false}));
  expect_error(ErrorCode::kInvalidArgument, "can only be called during a backward call",
               [&] { (void)Engine::will_execute_node(*grad_fn(a)); });
  testing::hook_tensor(out, [&](const Tensor& g) {
    (void)Engine::will_execute_node(*grad_accumulator(x));
    return g;
  });
  expect_error(ErrorCode::kInvalidArgument, "does not support leaf nodes during autograd.grad()",
               [&] { (void)grad({out}, {x}); });
}

// rule: checkpoint-validity
TEST(EngineQueries, CheckpointsAreValidUnlessSomeCallAroundAsksForGivenInputs) {
  const Tensor x = leaf(1);
  std::vector<bool> valid;
  const auto probe = [&] {
    return through(x, [&](GradList&& g) {
      valid.push_back(Engine::is_checkpoint_valid());
      const EnableGradGuard enable;
      backward({through(leaf(1), [&](GradList&& inner) {
        valid.push_back(Engine::is_checkpoint_valid());
        return std::move(inner);
      })});
      return std::move(g);
    });
  };
  backward({probe()});
  (void)grad({probe()}, {x});
  EXPECT_EQ(valid, (std::vector<bool>{true, true, false, false}));
  EXPECT_THROW(
      (void)grad({through(x, [](GradList&&) -> GradList { throw std::runtime_error(""); })}, {x}),
      std::runtime_error);
  EXPECT_TRUE(Engine::is_checkpoint_valid());
}

// rule: incomplete-graph
TEST(EngineErrors, AnEdgeCutDuringTheCallIsReported) {
  const Tensor x = leaf(1);
  const Tensor a = mul(x, 2);
  const Tensor out = add(a, mul(x, 3));
  testing::hook_tensor(out, [&](const Tensor& g) {
    grad_fn(a)->set_next_edges(EdgeList(grad_fn(a)->num_outputs()));
    return g;
  });
  expect_error(ErrorCode::kInternal, "some nodes received only part of their gradients",
               [&] { backward({out}); });
}

#if EG_THREADS

// rule: multithreading-off
TEST(EngineDevices, RunOnTheCallerWhenMultithreadingIsOff) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  std::thread::id thread;
  const Tensor y = through(x, [&](GradList&& g) {
    thread = std::this_thread::get_id();
    return std::move(g);
  });
  set_multithreading_enabled(false);
  backward({sum(y)}, {}, {.retain_graph = true});
  set_multithreading_enabled(true);
  EXPECT_EQ(thread, std::this_thread::get_id());
  backward({sum(y)});
  EXPECT_NE(thread, std::this_thread::get_id());
  Engine::instance().stop();
}

// rule: warnings-come-home
TEST(EngineDevices, WarningsReachTheCallersThread) {
  const testing::DefaultDeviceGuard cpu_default({});
  WarningRecorder warnings;
  const Tensor x = leaf({1}, {1}, kTestDevice);
  bool printed_early = false;
  backward({sum(through(x, [&](GradList&& g) {
    warn("careful");
    printed_early = !warnings.messages().empty();
    return std::move(g);
  }))});
  EXPECT_FALSE(printed_early);
  EXPECT_EQ(warnings.messages(), (Log{"careful"}));
  Engine::instance().stop();
}

// rule: nested-over-devices
// Device -> nested CPU call -> nested device call.
TEST(EngineDevices, ADeviceNodeMayCallBackwardOnBothDevices) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2}, {2}, kTestDevice);
  const Tensor cpu = leaf(3);
  const Tensor device = leaf({4}, {1}, kTestDevice);
  for (int round = 0; round < 50; ++round) {
    backward({sum(through(x, [&](GradList&& g) {
      const EnableGradGuard enable;
      backward(
          {sum(mul(cpu, math::to_device(through(math::to_device(cpu, kTestDevice),
                                                [](GradList&& inner) { return std::move(inner); }),
                                        {})))});
      backward({sum(mul(device, device))});
      return std::move(g);
    }))});
  }
  EXPECT_EQ(value(grad(cpu)), 50 * 6);
  EXPECT_EQ(value(grad(device)), 50 * 8);
  Engine::instance().stop();
}

// rule: error-beside-nested
TEST(EngineDevices, AnErrorOnTheCpuWhileTheDeviceRunsANestedCall) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  std::atomic<bool> device_is_busy{false};
  std::atomic<bool> cpu_failed{false};
  // Made first, so that the path to the device runs before it.
  const Tensor on_cpu = through(x, [&](GradList&&) -> GradList {
    while (!device_is_busy) std::this_thread::yield();
    cpu_failed = true;
    throw std::runtime_error("Boom!");
  });
  const Tensor on_device = math::to_device(through(math::to_device(x, kTestDevice),
                                                   [&](GradList&& g) {
                                                     device_is_busy = true;
                                                     while (!cpu_failed) std::this_thread::yield();
                                                     const EnableGradGuard enable;
                                                     const Tensor y = leaf({2}, {1}, kTestDevice);
                                                     backward({sum(mul(y, y))});
                                                     EXPECT_EQ(value(grad(y)), 4);
                                                     return std::move(g);
                                                   }),
                                           {});
  EXPECT_THROW(backward({sum(add(on_device, on_cpu))}), std::runtime_error);
  EXPECT_FALSE(grad(x).defined());
  backward({sum(mul(x, 2))});
  EXPECT_EQ(value(grad(x)), 2);
  Engine::instance().stop();
}

// rule: node-device-decides
TEST(EngineDevices, UndefinedGradientsGoToTheQueueOfTheNode) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1}, {1}, kTestDevice);
  std::thread::id thread;
  const Tensor y = through(x, [&](GradList&& g) {
    thread = std::this_thread::get_id();
    return std::move(g);
  });
  const Tensor none =
      through(math::to_device(y, {}), [](GradList&& g) { return GradList(g.size()); });
  backward({sum(none)});
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_FALSE(grad(x).defined());
  Engine::instance().stop();
}

#endif

}  // namespace
}  // namespace eg
