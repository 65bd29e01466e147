#pragma once

// The entry points of differentiation: torch.autograd.backward and torch.autograd.grad.
//
// What is differentiated, and with respect to what, is given by tensors or by edges of the graph.
// An edge represents the value a tensor had when the edge was requested, regardless of later
// in-place operations.

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "autograd/engine/graph_task.h"
#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg {

/// A tensor, or the edge of the graph that its gradient follows.
struct GradTarget {
  Tensor tensor;  ///< undefined if `edge` is used
  Edge edge;

  GradTarget(Tensor tensor) : tensor(std::move(tensor)) {}
  GradTarget(Edge edge) : edge(std::move(edge)) {}
  bool is_edge() const { return !tensor.defined(); }
};

/// A list of targets, made of tensors, of edges or of both.
struct GradTargetList : std::vector<GradTarget> {
  GradTargetList(std::initializer_list<GradTarget> targets) : vector(targets) {}
  GradTargetList(const TensorList& tensors) : vector(tensors.begin(), tensors.end()) {}
};

/// Returns the edge of the current value of `t`; throws NoGradPath unless `t` requires a gradient.
Edge get_gradient_edge(const Tensor& t);

struct BackwardOptions {
  /// Keep the tensors saved for backward, so that another call can use them; default:
  /// `create_graph`.
  std::optional<bool> retain_graph = std::nullopt;
  /// Record the backward computation itself, for higher derivatives.
  bool create_graph = false;
};

/// Adds the gradients of sum(tensors[i] * grad_tensors[i]) to the `.grad` of all leaves, or only of
/// `inputs` if given, which may include results. An undefined grad_tensor means 1 and requires a
/// tensor with one element.
void backward(const GradTargetList& tensors, const TensorList& grad_tensors = {},
              const BackwardOptions& options = {},
              const std::optional<GradTargetList>& inputs = {});

struct GradOptions : BackwardOptions {
  /// Return an undefined tensor for an input that the outputs do not depend on, instead of throwing
  /// UnusedInput; default: `materialize_grads`.
  std::optional<bool> allow_unused = std::nullopt;
  /// Return zeros for such an input.
  bool materialize_grads = false;
  /// The first dimension of every grad_output, and of every result, is a batch dimension.
  bool is_grads_batched = false;
};

/// Returns the gradients of sum(outputs[i] * grad_outputs[i]) with respect to `inputs`, without
/// changing any `.grad`.
TensorList grad(const GradTargetList& outputs, const GradTargetList& inputs,
                const TensorList& grad_outputs = {}, const GradOptions& options = {});

/// A backward() or grad() call that its thread runs in pieces; see Engine::begin_pieces().
class PiecewiseCall {
 public:
  using Finish = std::function<TensorList(GradList)>;

  PiecewiseCall(IntrusivePtr<GraphTask> task, Finish finish)
      : task_(std::move(task)), finish_(std::move(finish)) {}

  /// Runs nodes until `deadline`, but at least one; returns true when none is left.
  bool run_until(std::chrono::steady_clock::time_point deadline);
  /// Returns the result of the call, or throws its error.
  TensorList take_result();

 private:
  /// Null for a call that cannot be divided, which take_result() runs.
  IntrusivePtr<GraphTask> task_;
  Finish finish_;
};

PiecewiseCall backward_in_pieces(const GradTargetList& tensors, const TensorList& grad_tensors = {},
                                 const BackwardOptions& options = {},
                                 const std::optional<GradTargetList>& inputs = {});
/// A call with is_grads_batched runs as one piece.
PiecewiseCall grad_in_pieces(const GradTargetList& outputs, const GradTargetList& inputs,
                             const TensorList& grad_outputs = {}, const GradOptions& options = {});

}  // namespace eg
