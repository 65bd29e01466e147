#pragma once

// The two ways to compute attention: a kernel that never stores all scores, and the formula. The
// kernel computes float32 and its backward. When that backward is itself differentiated, it uses
// the formula.

#include "tensor/tensor.h"

namespace eg {

/// The inputs of attention after the checks: key and value have a head for each head of query.
struct AttentionInputs {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor mask;  ///< what is added to the scores, or undefined
  double scale;
  bool is_causal;
};

/// softmax(query keyᵀ * scale + mask), composed of ops; zero in rows where everything is masked.
Tensor attention_weights(const AttentionInputs& inputs);

/// Whether fused_attention supports these inputs.
bool can_fuse(const AttentionInputs& inputs);

/// The values weighted by attention_weights, in one kernel.
Tensor fused_attention(const AttentionInputs& inputs);

}  // namespace eg
