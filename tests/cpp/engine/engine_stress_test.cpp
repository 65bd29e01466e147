// markers: threads

// Everything at once: threads that share leaves, nested calls, random errors, device nodes with
// delays. Takes a few seconds by default; EG_STRESS_SECONDS makes it longer.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/grad_mode.h"
#include "support/live_counts.h"
#include "support/random_graphs.h"
#include "support/watchdog.h"

#if EG_THREADS

namespace eg {
namespace {

using testing::build_graph;
using testing::GraphPlan;
using testing::leaf;
using testing::PlannedGraph;
using testing::random_plan;
using testing::value;
using testing::Watchdog;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 8;
/// Each thread takes so many steps, however slow the machine is.
constexpr int kLeastSteps = 20;

int stress_seconds() {
  const char* text = std::getenv("EG_STRESS_SECONDS");
  return text == nullptr ? 2 : std::max(1, std::atoi(text));
}

struct Boom {};

std::vector<double> gradients(const PlannedGraph& graph) {
  std::vector<double> result;
  const GradOptions options{{.retain_graph = true}, true};
  for (const Tensor& grad : grad({graph.root}, graph.leaves, {}, options)) {
    result.push_back(grad.defined() ? value(grad) : 0);
  }
  return result;
}

// The work of one thread: its own graphs over its own leaves and over shared ones.
class Worker {
 public:
  Worker(unsigned seed, const TensorList& shared) : random_(seed), shared_(shared) {}

  void run_until(Clock::time_point end) {
    for (int steps = 0; steps < kLeastSteps || Clock::now() < end; ++steps) step();
  }
  int failures() const { return failures_; }
  int successes() const { return successes_; }

 private:
  void step() {
    const GraphPlan plan = random_plan(random_, random_() % 2 == 0);
    const bool fails = random_() % 4 == 0;
    const int victim = static_cast<int>(random_() % plan.nodes.size());
    const int nesting = random_() % 50 == 0 ? 70 : static_cast<int>(random_() % 3);
    const unsigned delay = random_() % 50;
    const std::vector<double> expected = gradients(build_graph(plan));
    const auto on_apply = [&](int node) {
      if (plan.nodes[static_cast<std::size_t>(node)].on_device) {
        std::this_thread::sleep_for(std::chrono::microseconds(delay));  // timer: any delay will do
      }
      if (node != victim) return;
      nest(nesting);
      if (fails) throw Boom{};
    };
    const bool shared = !plan.nodes[0].on_device && random_() % 2 == 0;
    const PlannedGraph graph = build_graph(plan, on_apply, shared ? shared_ : TensorList());
    try {
      if (shared) {
        backward({graph.root});
      } else {
        EXPECT_EQ(gradients(graph), expected);
      }
      ++successes_;
    } catch (const Boom&) {
      ++failures_;
    }
    EXPECT_EQ(Engine::current_graph_task_id(), -1);
  }

  // A backward call inside a backward call, `depth` deep.
  static void nest(int depth) {
    if (depth == 0) return;
    const EnableGradGuard enable;
    const Tensor x = leaf(1);
    backward({testing::through(x, [depth](GradList&& g) {
      nest(depth - 1);
      return std::move(g);
    })});
    EXPECT_EQ(value(grad(x)), 1);
  }

  std::mt19937 random_;
  const TensorList& shared_;
  int failures_ = 0;
  int successes_ = 0;
};

// rule: concurrent-calls, error-reaches-caller, queued-tasks-skipped, engine-usable-after-error
// rule: failed-call-leaks-nothing
TEST(EngineStress, SurvivesThreadsNestingErrorsAndDelays) {
  const int seconds = stress_seconds();
  const Watchdog watchdog(seconds);
  // Threads of earlier tests may still hold what these have computed.
  Engine::instance().stop();
  const std::int64_t nodes = testing::live_nodes();
  const std::int64_t tensors = testing::live_tensors();
  int failures = 0;
  int successes = 0;
  {
    const TensorList shared{leaf<double>({1}, {})};
    std::vector<Worker> workers;
    for (unsigned i = 0; i < kThreads; ++i) workers.emplace_back(i, shared);
    const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
    std::vector<std::thread> threads;
    for (Worker& worker : workers) threads.emplace_back([&worker, end] { worker.run_until(end); });
    for (std::thread& thread : threads) thread.join();
    for (const Worker& worker : workers) {
      failures += worker.failures();
      successes += worker.successes();
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(successes, 0);
  Engine::instance().stop();
  EXPECT_EQ(testing::live_nodes(), nodes);
  EXPECT_EQ(testing::live_tensors(), tensors);
}

// rule: stop-at-work
TEST(EngineStress, StopAndRestartWhileThreadsAreAtWork) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Watchdog watchdog;
  std::atomic<bool> done{false};
  std::thread stopper([&] {
    while (!done) {
      Engine::instance().stop();
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const Tensor x = leaf({1, 2}, {2}, testing::kTestDevice);
      for (int round = 0; round < 100; ++round) {
        // Nested on the device: the inner loop must leave a shutdown to the outer one.
        backward({testing::sum(testing::through(testing::mul(x, x), [](GradList&& g) {
          const EnableGradGuard enable;
          const Tensor y = leaf({1}, {1}, testing::kTestDevice);
          backward({testing::sum(testing::mul(y, y))});
          return std::move(g);
        }))});
      }
      EXPECT_EQ(testing::values(grad(x)), (std::vector<double>{200, 400}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  stopper.join();
  Engine::instance().stop();
}

}  // namespace
}  // namespace eg

#endif
