// markers: threads

// Compares the engine with the algorithm PyTorch had in 2018: one stack of ready nodes, a counter
// of uses per output, gradients summed as they arrive. The gradients on random graphs must be the
// same, however the work is distributed.

#include <map>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "support/random_graphs.h"
#include "support/repetitions.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::build_graph;
using testing::GraphPlan;
using testing::PlannedGraph;
using testing::random_plan;
using testing::value;
using Gradients = std::vector<std::optional<double>>;

class Engine2018 {
 public:
  explicit Engine2018(const GraphPlan& plan) : plan_(plan) {}

  /// The gradient of output 0 of the root with respect to every leaf; undefined for unreachable
  /// ones.
  Gradients run() {
    compute_dependencies(plan_.root());
    std::vector<Ready> ready;
    ready.push_back({plan_.root(), Gradients(outputs_of(plan_.root()))});
    ready.back().grads[0] = 1;
    while (!ready.empty()) {
      const Ready next = std::move(ready.back());
      ready.pop_back();
      const GraphPlan::Node& node = node_of(next.node);
      if (node.is_leaf()) {
        accumulate(leaf_grads_[next.node], *next.grads[0]);
        continue;
      }
      double total = 0;
      for (const auto& grad : next.grads) total += grad.value_or(0);
      for (const GraphPlan::Input& input : node.inputs) {
        if (!input.requires_grad) continue;
        free_dependency(next.node, input);
        Gradients& grads = not_ready_[input.node];
        grads.resize(outputs_of(input.node));
        accumulate(grads[static_cast<std::size_t>(input.output)], input.coefficient * total);
        if (!is_ready(input.node)) continue;
        ready.push_back({input.node, std::move(grads)});
        not_ready_.erase(input.node);
      }
    }
    Gradients result;
    for (const int leaf : plan_.leaves()) result.push_back(leaf_grads_[leaf]);
    return result;
  }

 private:
  struct Ready {
    int node;
    Gradients grads;
  };

  const GraphPlan::Node& node_of(int i) const { return plan_.nodes[static_cast<std::size_t>(i)]; }
  std::size_t outputs_of(int i) const { return static_cast<std::size_t>(node_of(i).outputs); }

  static void accumulate(std::optional<double>& slot, double value) {
    slot = slot.value_or(0) + value;
  }

  void compute_dependencies(int root) {
    std::vector<int> stack{root};
    std::map<int, bool> seen;
    while (!stack.empty()) {
      const int fn = stack.back();
      stack.pop_back();
      if (seen[fn]) continue;
      seen[fn] = true;
      for (const GraphPlan::Input& input : node_of(fn).inputs) {
        if (!input.requires_grad) continue;
        auto& uses = dependencies_[input.node];
        uses.resize(outputs_of(input.node));
        ++uses[static_cast<std::size_t>(input.output)][fn];
        stack.push_back(input.node);
      }
    }
  }

  void free_dependency(int fn, const GraphPlan::Input& input) {
    auto& uses = dependencies_[input.node][static_cast<std::size_t>(input.output)];
    if (--uses[fn] == 0) uses.erase(fn);
  }

  bool is_ready(int node) {
    for (const auto& uses : dependencies_[node]) {
      if (!uses.empty()) return false;
    }
    return true;
  }

  const GraphPlan& plan_;
  std::map<int, std::vector<std::map<int, int>>> dependencies_;
  std::map<int, Gradients> not_ready_;
  std::map<int, std::optional<double>> leaf_grads_;
};

Gradients collect(const TensorList& grads) {
  Gradients result;
  for (const Tensor& grad : grads) {
    result.push_back(grad.defined() ? std::optional(value(grad)) : std::nullopt);
  }
  return result;
}

Gradients run_backward(const PlannedGraph& graph) {
  backward({graph.root});
  TensorList grads;
  for (const Tensor& leaf : graph.leaves) grads.push_back(grad(leaf));
  return collect(grads);
}

// rule: agrees-with-oracle, dependencies-per-edge, repeated-roots, dependent-roots
TEST(EngineOracle, AgreesWithTheAlgorithmOf2018) {
  std::mt19937 random(2018);
  for (int i = 0; i < testing::repetitions(10'000); ++i) {
    const GraphPlan plan = random_plan(random, false);
    const Gradients expected = Engine2018(plan).run();
    ASSERT_EQ(run_backward(build_graph(plan)), expected) << "graph " << i;
  }
}

TEST(EngineOracle, GradAgreesForEveryChoiceOfInputs) {
  std::mt19937 random(1);
  for (int i = 0; i < testing::repetitions(2'000); ++i) {
    const GraphPlan plan = random_plan(random, false);
    const Gradients expected = Engine2018(plan).run();
    const PlannedGraph graph = build_graph(plan);
    for (std::size_t k = 0; k < graph.leaves.size(); ++k) {
      const GradOptions options{{.retain_graph = true}, true};
      const Gradients one = collect(grad({graph.root}, {graph.leaves[k]}, {}, options));
      ASSERT_EQ(one[0], expected[k]) << "graph " << i << " leaf " << k;
    }
    const GradOptions options{{}, true};
    ASSERT_EQ(collect(grad({graph.root}, graph.leaves, {}, options)), expected) << "graph " << i;
  }
}

#if EG_THREADS

// rule: shared-graph-retained
TEST(EngineOracle, ManyThreadsOnOneGraphAllFindTheSameGradients) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    const GraphPlan plan = random_plan(random, false);
    const Gradients expected = Engine2018(plan).run();
    const PlannedGraph graph = build_graph(plan);
    std::vector<Gradients> found(4);
    std::vector<std::thread> threads;
    for (Gradients& slot : found) {
      threads.emplace_back([&graph, &slot] {
        const GradOptions options{{.retain_graph = true}, true};
        for (int round = 0; round < 5; ++round) {
          slot = collect(grad({graph.root}, graph.leaves, {}, options));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Gradients& slot : found) ASSERT_EQ(slot, expected) << "graph " << i;
  }
}

// rule: device-split-agrees, owner-woken
TEST(EngineOracle, AGraphSplitOverTwoDevicesGivesTheSameGradients) {
  std::mt19937 random(3);
  for (int i = 0; i < testing::repetitions(1'000); ++i) {
    const GraphPlan plan = random_plan(random, true);
    const Gradients expected = Engine2018(plan).run();
    ASSERT_EQ(run_backward(build_graph(plan)), expected) << "graph " << i;
  }
  Engine::instance().stop();
}

#endif

}  // namespace
}  // namespace eg
