#include "ops/nn/attention.h"

#include <cmath>

#include "base/infinity.h"
#include "dispatch/factories.h"
#include "dispatch/var.h"
#include "ops/index/index.h"
#include "ops/matrix/matmul.h"
#include "ops/nn/fused_attention.h"
#include "ops/random/random.h"

namespace eg {
namespace {

// The mask as numbers to add to the scores: a bool mask becomes 0 where true and -infinity where
// false.
Tensor additive(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return mask;
  return where(mask, full({}, 0, dtype), full({}, -kInfinity, dtype));
}

Tensor repeat_heads(const Tensor& t, std::int64_t heads) {
  return RepeatInterleave::call(t, Operand(Scalar(heads / t.size(-3))), -3);
}

}  // namespace

Tensor ScaledDotProductAttention::call(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const std::optional<Tensor>& attn_mask, double dropout_p,
                                       bool is_causal, std::optional<double> scale,
                                       bool enable_gqa) {
  for (const Tensor& t : {query, key, value}) {
    check(t.ndim() >= 2, ErrorCode::kShapeMismatch, doc.name,
          "query, key and value must have at least 2 dimensions, got ", query.ndim(), ", ",
          key.ndim(), " and ", value.ndim(), '.');
    check(t.dtype() == query.dtype(), ErrorCode::kDtypeMismatch, doc.name,
          "query, key and value must have the same dtype, got ", query.dtype(), ", ", key.dtype(),
          " and ", value.dtype(), '.');
  }
  check(is_floating(query.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected float32 or float64, got ", query.dtype(), '.');
  check(!(is_causal && attn_mask), ErrorCode::kInvalidArgument, doc.name,
        "attnMask and isCausal cannot be combined.");
  check(!attn_mask || attn_mask->dtype() == DType::kBool || attn_mask->dtype() == query.dtype(),
        ErrorCode::kDtypeMismatch, doc.name, "attnMask must be bool or ", query.dtype(),
        " like query, got ", attn_mask ? attn_mask->dtype() : query.dtype(), '.');
  Tensor k = key;
  Tensor v = value;
  if (enable_gqa) {
    const bool has_heads = query.ndim() >= 3 && key.ndim() >= 3 && value.ndim() >= 3;
    check(has_heads && key.size(-3) > 0 && value.size(-3) > 0 &&
              query.size(-3) % key.size(-3) == 0 && query.size(-3) % value.size(-3) == 0,
          ErrorCode::kShapeMismatch, doc.name,
          "the heads of query must be a multiple of those of key and of value.");
    k = repeat_heads(key, query.size(-3));
    v = repeat_heads(value, query.size(-3));
  }
  const AttentionInputs inputs{query,
                               k,
                               v,
                               attn_mask ? additive(*attn_mask, query.dtype()) : Tensor(),
                               scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))),
                               is_causal};
  if (dropout_p == 0 && can_fuse(inputs)) return fused_attention(inputs);
  const Tensor weights = attention_weights(inputs);
  return matmul(dropout_p > 0 ? Dropout::call(weights, dropout_p) : weights, v);
}

}  // namespace eg
