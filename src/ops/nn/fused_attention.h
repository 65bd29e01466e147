#pragma once

// The two ways to compute attention: a kernel that never holds all scores, and the formula. The
// kernel serves float32 and plain backward; what it is given and gives back is differentiated
// further through the formula.

#include "tensor/tensor.h"

namespace eg {

/// What attention is computed from, checked: key and value have a head for each of query's.
struct AttentionInputs {
  Tensor query;
  Tensor key;
  Tensor value;
  Tensor mask;  ///< what is added to the scores, or undefined
  double scale;
  bool is_causal;
};

/// softmax(query keyᵀ * scale + mask) by ops, zero in rows that may attend to nothing.
Tensor attention_weights(const AttentionInputs& inputs);

/// Whether fused_attention can take these.
bool can_fuse(const AttentionInputs& inputs);

/// The values weighed by attention_weights, in one kernel.
Tensor fused_attention(const AttentionInputs& inputs);

}  // namespace eg
