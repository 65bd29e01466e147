#pragma once

// Attention in one piece: softmax(scale * query keyᵀ + mask) value and its gradients. The forward
// pass leaves one number per query, the logarithm of its sum of exponentials; from it the backward
// pass makes the weights again, which costs less than having kept them.

#include <string_view>

#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// Matrices of float32, one per head.
struct HeadMatrices {
  In memory;
  Strides strides;  ///< of the dimensions of the batch, then of rows and columns
};

/// Such matrices, or none.
struct OptionalHeadMatrices {
  OptionalIn memory;
  Strides strides;
};

/// Sizes and operands.
struct Attention {
  Shape batch;  ///< one head for every place
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t features;  ///< of queries and keys
  std::int64_t value_features;
  float scale;
  bool is_causal;  ///< query i sees keys up to i
  HeadMatrices query;
  HeadMatrices key;
  HeadMatrices value;
  OptionalHeadMatrices mask;  ///< added to the scores
};

/// The result, whose column stride is 1, and log_sums [heads, queries]. A query that sees nothing
/// gets zeros, and infinity for its logarithm.
struct Attend {
  static constexpr std::string_view name = "attend";
  Attention attention;
  Out y;
  Strides y_strides;  ///< as those of operands
  Out log_sums;

  void compute_on_cpu() const;
};

/// The gradients of query, key and value, packed, from that of y.
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
