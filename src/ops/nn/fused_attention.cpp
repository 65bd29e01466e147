// compile: compact

#include "ops/nn/fused_attention.h"

#include <algorithm>
#include <cmath>

#include "base/infinity.h"
#include "dispatch/factories.h"
#include "dispatch/forward.h"
#include "dispatch/record.h"
#include "dispatch/var.h"
#include "kernels/attention.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/rearrange.h"

namespace eg {
namespace {

// Softmax, except that rows in which everything is masked are zero instead of 0 / 0.
Tensor masked_softmax(const Var& scores) {
  const Tensor nothing = All::call(scores == -kInfinity, Dims{-1}, true);
  const Var finite = where(nothing, 0, scores);
  return where(nothing, 0, Softmax::call(finite, -1));
}

// ---------------------------------------------------------------- the kernel's view of tensors

std::span<const std::int64_t> batch_of(const Tensor& t) {
  return {t.shape().data(), t.shape().size() - 2};
}

kernel::HeadMatrices heads_of(const Tensor& t) { return {t.memory(), t.strides()}; }

Shape with_matrices(const Tensor& like, std::int64_t rows, std::int64_t columns) {
  Shape shape(batch_of(like));
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

// The mask, if any; it may broadcast over heads and queries.
kernel::OptionalHeadMatrices heads_of_mask(const Tensor& mask, const Shape& scores) {
  if (!mask.defined()) return {};
  return {mask.memory(), broadcast_strides(mask.shape(), mask.strides(), scores)};
}

kernel::Attention attention_of(const AttentionInputs& inputs) {
  const auto& [query, key, value, mask, scale, is_causal] = inputs;
  return {.batch = Shape(batch_of(query)),
          .queries = query.size(-2),
          .keys = key.size(-2),
          .features = query.size(-1),
          .value_features = value.size(-1),
          .scale = static_cast<float>(scale),
          .is_causal = is_causal,
          .query = heads_of(query),
          .key = heads_of(key),
          .value = heads_of(value),
          .mask = heads_of_mask(mask, with_matrices(query, query.size(-2), key.size(-2)))};
}

// Allocates the result with the layout of PyTorch's CPU kernel: with four dims, the heads of a
// position are adjacent in memory, as the projection that usually follows needs them.
Tensor empty_result(const AttentionInputs& inputs) {
  const Tensor& query = inputs.query;
  if (query.ndim() != 4)
    return Tensor::empty(with_matrices(query, query.size(-2), inputs.value.size(-1)), query.dtype(),
                         query.device());
  const std::int64_t heads = query.size(1);
  const std::int64_t rows = query.size(2);
  const std::int64_t columns = inputs.value.size(3);
  const Tensor result =
      Tensor::empty({query.size(0), rows, heads, columns}, query.dtype(), query.device());
  return result.alias({query.size(0), heads, rows, columns},
                      {rows * heads * columns, columns, heads * columns, 1}, 0);
}

// ---------------------------------------------------------------- recording

struct FusedAttention {
  static constexpr op::Doc doc{"scaled_dot_product_flash_attention_for_cpu",
                               "Attention in one kernel."};
  struct Attrs {
    double scale;
    bool is_causal;
  };
  static constexpr std::array<std::string_view, 5> saved_names{"query", "key", "value", "attn_mask",
                                                               "logsumexp"};
  static GradList backward(const Backward<FusedAttention>& b);
};

GradList formula_gradients(const AttentionInputs& inputs, const Tensor& grad) {
  const Var weights = attention_weights(inputs);
  const Var grad_weights = matmul(grad, transposed(inputs.value));
  const Var mean = Sum::call(grad_weights * weights, Dims{-1}, true);
  const Tensor grad_scores = weights * (grad_weights - mean) * inputs.scale;
  return {matmul(grad_scores, inputs.key), matmul(transposed(grad_scores), inputs.query),
          matmul(transposed(weights), grad)};
}

GradList fused_gradients(const AttentionInputs& inputs, const Tensor& grad,
                         const Tensor& log_sums) {
  GradList grads(3);
  const std::array<const Tensor*, 3> like{&inputs.query, &inputs.key, &inputs.value};
  for (std::size_t i = 0; i < 3; ++i)
    grads[i] = Tensor::empty(like[i]->shape(), grad.dtype(), grad.device());
  run(kernel::AttendBackward{attention_of(inputs), heads_of(grad), log_sums.memory(),
                             grads[0].memory(), grads[1].memory(), grads[2].memory()});
  return grads;
}

GradList FusedAttention::backward(const Backward<FusedAttention>& b) {
  const AttentionInputs inputs{b.saved(0), b.saved(1),      b.saved(2),
                               b.saved(3), b.attrs().scale, b.attrs().is_causal};
  return ops_are_differentiated() ? formula_gradients(inputs, b.grad())
                                  : fused_gradients(inputs, b.grad(), b.saved(4));
}

}  // namespace

Tensor attention_weights(const AttentionInputs& inputs) {
  const auto& [query, key, value, mask, scale, is_causal] = inputs;
  // Scaling both factors by the root of the scale keeps the products small.
  const double root = std::sqrt(scale);
  const bool is_split = root == root;
  const Var q = query * (is_split ? root : scale);
  const Var scaled_key = is_split ? key * root : Var(key);
  const Var scores = matmul(q, transposed(scaled_key));
  if (mask.defined()) return masked_softmax(scores + mask);
  if (!is_causal) return Softmax::call(scores, -1);
  const Tensor ones = full({query.size(-2), key.size(-2)}, true, DType::kBool, query.device());
  const Tensor hidden = full({}, -kInfinity, query.dtype());
  return Softmax::call(where(Tril::call(ones), scores, hidden), -1);
}

bool can_fuse(const AttentionInputs& inputs) {
  const auto& [query, key, value, mask, scale, is_causal] = inputs;
  const bool is_plain = query.dtype() == DType::kFloat32 && query.numel() > 0 && key.numel() > 0 &&
                        value.numel() > 0 && query.size(-1) == key.size(-1) &&
                        key.size(-2) == value.size(-2) &&
                        std::ranges::equal(batch_of(query), batch_of(key)) &&
                        std::ranges::equal(batch_of(query), batch_of(value));
  if (!is_plain || !mask.defined()) return is_plain;
  // The kernel has no gradient for its mask.
  return !should_record({&mask, 1}) && !any_has_tangent({&mask, 1}) &&
         is_expandable_to(mask.shape(), with_matrices(query, query.size(-2), key.size(-2)));
}

Tensor fused_attention(const AttentionInputs& inputs) {
  const Tensor& query = inputs.query;
  const Tensor out = empty_result(inputs);
  const Tensor log_sums =
      Tensor::empty(with_matrices(query, query.size(-2), 1), query.dtype(), query.device());
  run(kernel::Attend{attention_of(inputs), out.memory(), out.strides(), log_sums.memory()});
  return record<FusedAttention>(out, {query, inputs.key, inputs.value},
                                {inputs.scale, inputs.is_causal},
                                {{query}, {inputs.key}, {inputs.value}, {inputs.mask}, {log_sums}});
}

}  // namespace eg
