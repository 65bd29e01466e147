#pragma once

// The entry points of differentiation: torch.autograd.backward and torch.autograd.grad.

#include <optional>

#include "autograd/node.h"
#include "tensor/tensor.h"

namespace eg {

struct BackwardOptions {
  /// Keep what backward needs, for another call; the default is `create_graph`.
  std::optional<bool> retain_graph = std::nullopt;
  /// Record the backward computation itself, for derivatives of derivatives.
  bool create_graph = false;
};

/// Adds the gradients of sum(tensors[i] * grad_tensors[i]) to the `.grad` of all leaves, or of
/// `inputs` alone when given. An undefined grad_tensor means 1 and needs a one-element tensor.
void backward(const TensorList& tensors, const TensorList& grad_tensors = {},
              const BackwardOptions& options = {}, const std::optional<TensorList>& inputs = {});

struct GradOptions : BackwardOptions {
  /// Give an undefined tensor for an input the outputs do not depend on, instead of UnusedInput.
  bool allow_unused = false;
};

/// The gradients of sum(outputs[i] * grad_outputs[i]) with respect to `inputs`; no `.grad` changes.
TensorList grad(const TensorList& outputs, const TensorList& inputs,
                const TensorList& grad_outputs = {}, const GradOptions& options = {});

}  // namespace eg
