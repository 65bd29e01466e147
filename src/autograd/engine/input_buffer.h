#pragma once

#include <cstdint>

#include "autograd/graph/node.h"

namespace eg {

/// Collects the gradients that arrive at a node, one slot per forward output; gradients of the same
/// slot are summed. Never modifies a tensor that others can see.
class InputBuffer {
 public:
  InputBuffer() = default;
  explicit InputBuffer(std::size_t slots) : slots_(slots) {}
  InputBuffer(InputBuffer&&) = default;
  InputBuffer& operator=(InputBuffer&&) = default;

  /// Adds `grad` to slot `position`; an undefined gradient has no effect.
  void add(std::size_t position, Tensor grad);

  bool empty() const { return slots_.empty(); }
  const Tensor& operator[](std::size_t i) const { return slots_[i]; }
  GradList& grads() { return slots_; }

 private:
  GradList slots_;
};

}  // namespace eg
