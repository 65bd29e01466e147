#pragma once

// Random graphs of linear nodes with small integer coefficients. All gradients are integers that a
// double represents exactly, so the order of additions cannot matter and results can be compared
// bit by bit.

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "autograd/graph/variable.h"
#include "support/graphs.h"
#include "support/tensors.h"

namespace eg::testing {

/// The plan of a graph. Node i takes outputs of earlier nodes; nodes without inputs are leaves.
struct GraphPlan {
  struct Input {
    int node = 0;
    int output = 0;
    bool requires_grad = true;
    double coefficient = 1;
  };
  struct Node {
    std::vector<Input> inputs;
    int outputs = 1;
    bool on_device = false;

    bool is_leaf() const { return inputs.empty(); }
  };
  std::vector<Node> nodes;

  int root() const { return static_cast<int>(nodes.size()) - 1; }
  std::vector<int> leaves() const {
    std::vector<int> result;
    for (int i = 0; i <= root(); ++i) {
      if (nodes[static_cast<std::size_t>(i)].is_leaf()) result.push_back(i);
    }
    return result;
  }
};

inline GraphPlan random_plan(std::mt19937& random, bool with_device) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  GraphPlan plan;
  const int leaves = 1 + below(4);
  const int count = leaves + 1 + below(20);
  for (int i = 0; i < count; ++i) {
    GraphPlan::Node node;
    node.on_device = with_device && below(3) == 0;
    if (i >= leaves) {
      node.outputs = 1 + below(2);
      const int inputs = 1 + below(3);
      for (int k = 0; k < inputs; ++k) {
        // Mostly recent nodes, which makes long graphs whose paths often meet.
        const int node_index = below(4) == 0 ? below(i) : i - 1 - below(std::min(i, 4));
        const int outputs = plan.nodes[static_cast<std::size_t>(node_index)].outputs;
        node.inputs.push_back({node_index, below(outputs), below(8) != 0,
                               static_cast<double>(below(10) == 0 ? 2 : 1 - 2 * below(2))});
      }
      node.inputs[0].requires_grad = true;
    }
    plan.nodes.push_back(std::move(node));
  }
  return plan;
}

/// Multiplies by the coefficients of a plan's node: the gradient of every input is a sum over the
/// outputs.
class LinearNode final : public Node {
 public:
  LinearNode(EdgeList edges, std::vector<double> coefficients, std::function<void()> on_apply)
      : Node(std::move(edges)),
        coefficients_(std::move(coefficients)),
        on_apply_(std::move(on_apply)) {}

  std::string name() const override { return "LinearBackward"; }
  GradList apply(GradList&& grads) override {
    if (on_apply_) on_apply_();
    double total = 0;
    Device device;
    for (const Tensor& grad : grads) {
      if (!grad.defined()) continue;
      total += value(grad);
      device = grad.device();
    }
    GradList result(num_outputs());
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (task_should_compute_output(i)) {
        result[i] = tensor<double>({coefficients_[i] * total}, {}, device);
      }
    }
    return result;
  }

 private:
  std::vector<double> coefficients_;
  std::function<void()> on_apply_;
};

/// The graph of a plan: its leaves and its final tensor.
struct PlannedGraph {
  TensorList leaves;
  Tensor root;
};

/// Builds the graph; every node calls `on_apply` with its index when it runs. Leaves may be passed
/// in, to share them between graphs.
inline PlannedGraph build_graph(const GraphPlan& plan,
                                const std::function<void(int)>& on_apply = {},
                                const TensorList& shared_leaves = {}) {
  PlannedGraph graph;
  std::vector<TensorList> outputs;
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const GraphPlan::Node& node = plan.nodes[i];
    const Device device = node.on_device ? kTestDevice : Device{};
    if (node.is_leaf()) {
      const std::size_t number = graph.leaves.size();
      graph.leaves.push_back(number < shared_leaves.size() ? shared_leaves[number]
                                                           : leaf<double>({1}, {}, device));
      outputs.push_back({graph.leaves.back()});
      continue;
    }
    EdgeList edges;
    std::vector<double> coefficients;
    for (const GraphPlan::Input& input : node.inputs) {
      const Tensor& from =
          outputs[static_cast<std::size_t>(input.node)][static_cast<std::size_t>(input.output)];
      edges.push_back(input.requires_grad ? gradient_edge(from) : Edge{});
      coefficients.push_back(input.coefficient);
    }
    std::function<void()> call;
    if (on_apply) call = [on_apply, i] { on_apply(static_cast<int>(i)); };
    const auto made =
        make_intrusive<LinearNode>(std::move(edges), std::move(coefficients), std::move(call));
    TensorList results;
    for (int k = 0; k < node.outputs; ++k) {
      results.push_back(tensor<double>({1}, {}, device));
      set_history(results.back(), made);
    }
    outputs.push_back(std::move(results));
  }
  graph.root = outputs.back()[0];
  return graph;
}

}  // namespace eg::testing
