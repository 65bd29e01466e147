#include "ops/nn/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "backend/cpu/nn/attention.h"
#include "dispatch/factories.h"
#include "dispatch/forward.h"
#include "dispatch/record.h"
#include "dispatch/var.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/nn/softmax.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/rearrange.h"

namespace eg {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A row that may attend to nothing is zero, where softmax alone would be 0 / 0.
Tensor masked_softmax(const Var& scores) {
  const Tensor nothing = All::call((scores == -kInfinity).tensor(), Dims{-1}, true);
  const Var finite = where(Var(nothing), Var(0), scores);
  return where(Var(nothing), Var(0), Var(Softmax::call(finite.tensor(), -1))).tensor();
}

// ---------------------------------------------------------------- the kernel's view of tensors

std::span<const std::int64_t> batch_of(const Tensor& t) {
  return {t.shape().data(), t.shape().size() - 2};
}

// Where the matrices of a batch begin, last dim fastest.
std::vector<std::int64_t> offsets_of(std::span<const std::int64_t> batch, const Strides& strides) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t d = 0; d < batch.size(); ++d) {
    std::vector<std::int64_t> inner;
    const CheckedInt count = static_cast<std::int64_t>(offsets.size());
    inner.reserve(checked_count((count * batch[d]).value()));
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < batch[d]; ++i) inner.push_back(offset + i * strides[d]);
    offsets = std::move(inner);
  }
  return offsets;
}

// The heads of a tensor, which may repeat for a batch.
class Heads {
 public:
  Heads(const Tensor& t, const Shape& shape) : tensor_(t) {
    if (!t.defined()) return;
    strides_ = broadcast_strides(t.shape(), t.strides(), shape);
    offsets_ = offsets_of({shape.data(), shape.size() - 2}, strides_);
  }

  cpu::HeadMatrices matrices() const {
    if (!tensor_.defined()) return {};
    const std::size_t rows = strides_.size() - 2;
    return {tensor_.data_as<float>(), offsets_.data(), strides_[rows], strides_[rows + 1]};
  }

 private:
  Tensor tensor_;
  Strides strides_;
  std::vector<std::int64_t> offsets_;
};

Shape with_matrices(const Tensor& like, std::int64_t rows, std::int64_t columns) {
  Shape shape(batch_of(like));
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

// All operands of a call of the kernel.
class Operands {
 public:
  explicit Operands(const AttentionInputs& inputs)
      : inputs_(inputs),
        query_(inputs.query, inputs.query.shape()),
        key_(inputs.key, inputs.key.shape()),
        value_(inputs.value, inputs.value.shape()),
        mask_(inputs.mask,
              with_matrices(inputs.query, inputs.query.size(-2), inputs.key.size(-2))) {}

  cpu::Attention call() const {
    return {.heads = numel(batch_of(inputs_.query)),
            .queries = inputs_.query.size(-2),
            .keys = inputs_.key.size(-2),
            .features = inputs_.query.size(-1),
            .value_features = inputs_.value.size(-1),
            .scale = static_cast<float>(inputs_.scale),
            .is_causal = inputs_.is_causal,
            .query = query_.matrices(),
            .key = key_.matrices(),
            .value = value_.matrices(),
            .mask = mask_.matrices()};
  }

 private:
  const AttentionInputs& inputs_;
  Heads query_;
  Heads key_;
  Heads value_;
  Heads mask_;
};

// As PyTorch's kernel for CPUs lays it out: for four dims the heads of a place lie together, which
// is how the projection that follows wants them.
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

// ---------------------------------------------------------------- what is recorded

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
  const Var grad_weights = Matmul::call(grad, transposed(inputs.value));
  const Var mean = Sum::call((grad_weights * weights).tensor(), Dims{-1}, true);
  const Tensor grad_scores = (weights * (grad_weights - mean) * inputs.scale).tensor();
  return {Matmul::call(grad_scores, inputs.key),
          Matmul::call(transposed(grad_scores), inputs.query),
          Matmul::call(transposed(weights.tensor()), grad)};
}

GradList fused_gradients(const AttentionInputs& inputs, const Tensor& grad,
                         const Tensor& log_sums) {
  const Operands operands(inputs);
  GradList grads(3);
  const std::array<const Tensor*, 3> like{&inputs.query, &inputs.key, &inputs.value};
  for (std::size_t i = 0; i < 3; ++i)
    grads[i] = Tensor::empty(like[i]->shape(), grad.dtype(), grad.device());
  cpu::attend_backward(
      operands.call(), Heads(grad, grad.shape()).matrices(), log_sums.data_as<float>(),
      {grads[0].data_as<float>(), grads[1].data_as<float>(), grads[2].data_as<float>()});
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
  // Half of the scale on either side keeps the products small.
  const double root = std::sqrt(scale);
  const bool is_split = root == root;
  const Var q = Var(query) * (is_split ? root : scale);
  const Var scaled_key = is_split ? Var(key) * root : Var(key);
  const Var scores = Matmul::call(q.tensor(), transposed(scaled_key.tensor()));
  if (mask.defined()) return masked_softmax(scores + Var(mask));
  if (!is_causal) return Softmax::call(scores.tensor(), -1);
  const Tensor ones = full({query.size(-2), key.size(-2)}, true, DType::kBool, query.device());
  const Tensor hidden = full({}, -kInfinity, query.dtype());
  return Softmax::call(where(Var(Tril::call(ones)), scores, Var(hidden)).tensor(), -1);
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
  const Operands operands(inputs);
  cpu::attend(operands.call(), Heads(out, out.shape()).matrices(), log_sums.data_as<float>());
  return record<FusedAttention>(out, {query, inputs.key, inputs.value},
                                {inputs.scale, inputs.is_causal},
                                {{query}, {inputs.key}, {inputs.value}, {inputs.mask}, {log_sums}});
}

}  // namespace eg
