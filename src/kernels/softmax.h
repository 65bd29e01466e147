#pragma once

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

enum class SoftmaxKind : std::uint8_t { kPlain, kLog };

/// Computes the softmax of rows of floats, or its logarithm.
struct Softmax {
  static constexpr std::string_view name = "softmax";
  SoftmaxKind kind;
  Rows rows;
  In x;
  Out y;

  void compute_on_cpu() const;
};

/// Computes the gradient of x from y and the gradient of y.
struct SoftmaxBackward {
  static constexpr std::string_view name = "softmax_backward";
  SoftmaxKind kind;
  Rows rows;
  In grad_y;
  In y;
  Out grad_x;

  void compute_on_cpu() const;
};

using SoftmaxKernels = TypeList<Softmax, SoftmaxBackward>;

}  // namespace eg::kernel
