#include "dispatch/forward.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/engine/graph_task.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"

namespace eg {

TensorList tangents_of(std::span<const Tensor> tensors) {
  TensorList tangents;
  tangents.reserve(tensors.size());
  for (const Tensor& t : tensors) tangents.push_back(tangent(t));
  return tangents;
}

EdgeList tangent_edges(std::span<const Tensor> inputs) {
  EdgeList edges;
  for (const Tensor& input : inputs) {
    Edge edge;
    if (tangent(input).defined()) {
      edge.function = make_intrusive<Identity>();
      edge.function->add_input_metadata(input);
    }
    edges.push_back(std::move(edge));
  }
  return edges;
}

TensorList map_tangents(Node& node, std::span<const Tensor> outputs,
                        std::span<const Tensor> inputs) {
  const TensorList tangents = tangents_of(inputs);
  const bool recorded = ops_are_recorded();
  AutogradState state = autograd_state();
  state.dual_level = nullptr;
  state.grad_mode = true;
  // Tensors saved while computing the tangents are freed with them; user hooks must not see those.
  state.saved_tensor_hooks = nullptr;
  const AutogradStateGuard state_guard(state);
  // A backward call that may be running must not decide which gradients this evaluation computes.
  const EvaluationGuard evaluation_guard(nullptr, nullptr);

  GradList directions;
  for (const Tensor& output : outputs) {
    Tensor direction;
    if (is_differentiable(output.dtype())) {
      direction = math::zeros_like(output);
      set_requires_grad(direction, true);
    }
    directions.push_back(std::move(direction));
  }
  GradList grads = node.apply(GradList(directions));
  validate_outputs(node.next_edges(), grads, &node);

  TensorList roots;
  TensorList weights;
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || !tangents[i].defined() || !requires_grad(grads[i])) continue;
    roots.push_back(grads[i]);
    weights.push_back(tangents[i]);
  }
  TensorList result(outputs.size());
  if (roots.empty()) return result;
  TensorList variables;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    if (!directions[i].defined()) continue;
    variables.push_back(directions[i]);
    indices.push_back(i);
  }
  const TensorList mapped =
      grad(roots, variables, weights, {{.create_graph = recorded}, /*allow_unused=*/true});
  for (std::size_t i = 0; i < mapped.size(); ++i) result[indices[i]] = mapped[i];
  return result;
}

Tensor own_tangent(const Tensor& mapped, std::span<const Tensor> inputs) {
  if (!mapped.defined()) return mapped;
  const bool is_shared = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
    const Tensor other = tangent(input);
    return other.defined() && other.shares_storage_with(mapped);
  });
  if (!is_shared) return mapped;
  const NoDualLevelGuard guard;
  return math::clone(mapped);
}

}  // namespace eg
