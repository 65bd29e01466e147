#include "dispatch/attention_ops.h"

#include <cmath>
#include <limits>

#include "dispatch/factories.h"
#include "dispatch/index_ops.h"
#include "dispatch/join_ops.h"
#include "dispatch/matmul_ops.h"
#include "dispatch/matrix_product.h"
#include "dispatch/random_ops.h"
#include "dispatch/reduction_ops.h"
#include "dispatch/softmax_ops.h"
#include "dispatch/var.h"

namespace eg {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is added to the scores; bool masks say what stays.
Var additive(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::kBool) return mask;
  const Tensor zero = full({}, 0, dtype);
  return where(Var(mask), Var(zero), Var(full({}, -kInfinity, dtype)));
}

// A row that may attend to nothing is zero, where softmax alone would be 0 / 0.
Tensor masked_softmax(const Var& scores) {
  const Tensor nothing = All::call((scores == -kInfinity).tensor(), Dims{-1}, true);
  const Var finite = where(Var(nothing), Var(0), scores);
  return where(Var(nothing), Var(0), Var(Softmax::call(finite.tensor(), -1))).tensor();
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
          "Expected query, key, and value to all be at least 2 dimensional, but got Query dim: ",
          query.ndim(), ", Key dim: ", key.ndim(), " and Value dim: ", value.ndim(), " instead.");
    check(t.dtype() == query.dtype(), ErrorCode::kDtypeMismatch, doc.name,
          "Expected query, key, and value to have the same dtype, but got query.dtype: ",
          query.dtype(), " key.dtype: ", key.dtype(), " and value.dtype: ", value.dtype(),
          " instead.");
  }
  check(is_floating(query.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected float32 or float64, got ", query.dtype(), '.');
  check(!(is_causal && attn_mask), ErrorCode::kInvalidArgument, doc.name,
        "Explicit attn_mask should not be set when is_causal=True.");
  check(!attn_mask || attn_mask->dtype() == DType::kBool || attn_mask->dtype() == query.dtype(),
        ErrorCode::kDtypeMismatch, doc.name,
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
        "attn_mask.dtype: ",
        attn_mask ? attn_mask->dtype() : query.dtype(), " and query.dtype: ", query.dtype(), '.');
  Tensor k = key;
  Tensor v = value;
  if (enable_gqa) {
    const bool has_heads = query.ndim() >= 3 && key.ndim() >= 3 && value.ndim() >= 3;
    check(has_heads && key.size(-3) > 0 && value.size(-3) > 0 &&
              query.size(-3) % key.size(-3) == 0 && query.size(-3) % value.size(-3) == 0,
          ErrorCode::kShapeMismatch, doc.name,
          "Number of heads in key and value must divide the number of heads in query.");
    k = repeat_heads(key, query.size(-3));
    v = repeat_heads(value, query.size(-3));
  }
  // Half of the scale on either side keeps the products small.
  const double root = std::sqrt(scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))));
  const bool is_split = root == root;
  const Var q = Var(query) * (is_split ? root : *scale);
  const Var scaled_key = is_split ? Var(k) * root : Var(k);
  Var scores = Matmul::call(q.tensor(), transposed(scaled_key.tensor()));
  Tensor weights;
  if (is_causal) {
    const Tensor ones = full({query.size(-2), key.size(-2)}, true, DType::kBool, query.device());
    scores = scores + additive(Tril::call(ones), query.dtype());
    weights = Softmax::call(scores.tensor(), -1);
  } else if (attn_mask) {
    weights = masked_softmax(scores + additive(*attn_mask, query.dtype()));
  } else {
    weights = Softmax::call(scores.tensor(), -1);
  }
  return Matmul::call(dropout_p > 0 ? Dropout::call(weights, dropout_p) : weights, v);
}

}  // namespace eg
