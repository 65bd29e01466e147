#pragma once

// Attention: one kernel for inputs that fused_attention.h supports, else a composite of matrix
// products and softmax.

#include "dispatch/function_op.h"

namespace eg {

struct ScaledDotProductAttention {
  static constexpr op::Doc doc{
      "scaled_dot_product_attention",
      "softmax(query keyᵀ * scale + mask) value; a bool mask is true where "
      "attention is allowed."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"query"},          Arg{"key"},
                                   Arg{"value"},          Arg{"attn_mask", "null"},
                                   Arg{"dropout_p", "0"}, Arg{"is_causal", "false"},
                                   Arg{"scale", "null"},  Arg{"enable_gqa", "false"}};
  static constexpr std::array<std::string_view, 5> samples{
      "T([1, 2, 3, 4]), T([1, 2, 5, 4]), T([1, 2, 5, 3])",
      "T([1, 2, 3, 4]), T([1, 2, 3, 4]), T([1, 2, 3, 4]), null, 0, true",
      "T([2, 3, 4]), T([2, 2, 4]), T([2, 2, 2]), T([3, 2]), 0, false, 0.7",
      "T([2, 3]), T([4, 3]), T([4, 2]), B([2, 4])",
      "T([1, 4, 2, 3]), T([1, 2, 2, 3]), T([1, 2, 2, 3]), null, 0, false, null, true"};
  static Tensor call(const Tensor& query, const Tensor& key, const Tensor& value,
                     const std::optional<Tensor>& attn_mask = {}, double dropout_p = 0,
                     bool is_causal = false, std::optional<double> scale = {},
                     bool enable_gqa = false);
};

using AttentionOps = TypeList<ScaledDotProductAttention>;

}  // namespace eg
