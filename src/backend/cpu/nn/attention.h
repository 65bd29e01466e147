#pragma once

// Attention in one piece: softmax(scale * query keyᵀ + mask) value and its gradients, some rows of
// queries at a time, so that scores exist only for those rows, in scratch that stays in a cache.
// The forward pass leaves one number per query, the logarithm of its sum of exponentials; from it
// the backward pass makes the weights again, which costs less than having kept them.

#include <cstdint>

namespace eg::cpu {

/// Matrices of float in memory, one per head of a batch; strides count elements.
struct HeadMatrices {
  float* data = nullptr;
  const std::int64_t* offsets = nullptr;  ///< of each head's matrix
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  float* head(std::int64_t i) const { return data + offsets[i]; }
};

/// Sizes and operands; `mask` (added to the scores) has null data where there is none.
struct Attention {
  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t features;  ///< of queries and keys
  std::int64_t value_features;
  float scale;
  bool is_causal;  ///< query i sees keys up to i
  HeadMatrices query;
  HeadMatrices key;
  HeadMatrices value;
  HeadMatrices mask;
};

/// Computes `out`, whose column stride is 1, and log_sums [heads, queries]. A query that sees
/// nothing gets zeros, and infinity for its logarithm.
void attend(const Attention& attention, const HeadMatrices& out, float* log_sums);

/// Packed [heads, rows, features] gradients.
struct AttentionGradients {
  float* query;
  float* key;
  float* value;
};

/// Computes the gradients of query, key and value from that of `out`.
void attend_backward(const Attention& attention, const HeadMatrices& grad_out,
                     const float* log_sums, const AttentionGradients& grads);

}  // namespace eg::cpu
