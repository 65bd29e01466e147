#pragma once

// Fused attention: softmax(scale * query keyᵀ + mask) value, and its gradients. The forward pass
// saves one number per query, the logarithm of its sum of exponentials. The backward pass
// recomputes the weights from it, which is cheaper than storing them.

#include <string_view>

#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// Matrices of float32, one per head.
struct HeadMatrices {
  In memory;
  Strides strides;  ///< of the batch dimensions, then of rows and columns
};

/// HeadMatrices that may be absent.
struct OptionalHeadMatrices {
  OptionalIn memory;
  Strides strides;
};

/// The sizes and operands that the forward and backward kernels share.
struct Attention {
  Shape batch;  ///< one head per element of this shape
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t features;  ///< length of each query and each key
  std::int64_t value_features;
  float scale;
  bool is_causal;  ///< query i attends to keys 0 to i only
  HeadMatrices query;
  HeadMatrices key;
  HeadMatrices value;
  OptionalHeadMatrices mask;  ///< added to the scores
};

/// Computes y, whose column stride is 1, and log_sums [heads, queries]. For a query that attends to
/// no key, the row of y is zero and the logarithm is infinity.
struct Attend {
  static constexpr std::string_view name = "attend";
  Attention attention;
  Out y;
  Strides y_strides;  ///< in the order of HeadMatrices::strides
  Out log_sums;

  void compute_on_cpu() const;
};

/// Computes the gradients of query, key and value, packed, from the gradient of y.
struct AttendBackward {
  static constexpr std::string_view name = "attend_backward";
  Attention attention;
  HeadMatrices grad_y;
  In log_sums;
  OptionalOut grad_query;
  OptionalOut grad_key;
  OptionalOut grad_value;

  void compute_on_cpu() const;
};

using AttentionKernels = TypeList<Attend, AttendBackward>;

}  // namespace eg::kernel
