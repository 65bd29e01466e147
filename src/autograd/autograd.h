#pragma once

// The entry points of differentiation: torch.autograd.backward and torch.autograd.grad.
//
// What is differentiated, and with respect to what, is named by tensors or by edges of the graph:
// an edge stands for the value a tensor had when it was asked for, whatever in-place operations
// have made of the tensor since.

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "autograd/engine/graph_task.h"
#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg {

/// A tensor, or the place in the graph where its gradient goes.
struct GradTarget {
  Tensor tensor;  ///< Undefined when `edge` counts.
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

/// The edge that stands for the present value of `t`, which must require a gradient.
Edge get_gradient_edge(const Tensor& t);

struct BackwardOptions {
  /// Keep what backward needs, for another call; the default is `create_graph`.
  std::optional<bool> retain_graph = std::nullopt;
  /// Record the backward computation itself, for derivatives of derivatives.
  bool create_graph = false;
};

/// Adds the gradients of sum(tensors[i] * grad_tensors[i]) to the `.grad` of all leaves, or of
/// `inputs` alone when given, which may be results too. An undefined grad_tensor means 1 and needs
/// a one-element tensor.
void backward(const GradTargetList& tensors, const TensorList& grad_tensors = {},
              const BackwardOptions& options = {},
              const std::optional<GradTargetList>& inputs = {});

struct GradOptions : BackwardOptions {
  /// Give an undefined tensor for an input the outputs do not depend on, instead of UnusedInput;
  /// the default is `materialize_grads`.
  std::optional<bool> allow_unused = std::nullopt;
  /// Give zeros for such an input.
  bool materialize_grads = false;
  /// The first dimension of every grad_output counts a batch of them; so it does of the results.
  bool is_grads_batched = false;
};

/// The gradients of sum(outputs[i] * grad_outputs[i]) with respect to `inputs`; no `.grad` changes.
TensorList grad(const GradTargetList& outputs, const GradTargetList& inputs,
                const TensorList& grad_outputs = {}, const GradOptions& options = {});

/// A call of backward() or grad() that its thread runs in pieces; see Engine::begin_pieces().
class PiecewiseCall {
 public:
  using Finish = std::function<TensorList(GradList)>;

  PiecewiseCall(IntrusivePtr<GraphTask> task, Finish finish)
      : task_(std::move(task)), finish_(std::move(finish)) {}

  /// Runs nodes until `deadline`, but at least one; returns true when none is left.
  bool run_until(std::chrono::steady_clock::time_point deadline);
  /// What the call returns, or throws.
  TensorList take_result();

 private:
  /// Null for a call that cannot be divided: take_result() runs it.
  IntrusivePtr<GraphTask> task_;
  Finish finish_;
};

PiecewiseCall backward_in_pieces(const GradTargetList& tensors, const TensorList& grad_tensors = {},
                                 const BackwardOptions& options = {},
                                 const std::optional<GradTargetList>& inputs = {});
/// Batches of gradients are one piece.
PiecewiseCall grad_in_pieces(const GradTargetList& outputs, const GradTargetList& inputs,
                             const TensorList& grad_outputs = {}, const GradOptions& options = {});

}  // namespace eg
