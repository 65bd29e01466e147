// Some rows of queries are attended to at a time, so that scores exist only for those rows, in
// scratch that stays in a cache.

#include "kernels/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "backend/cpu/matrix/gemm/gemm.h"
#include "backend/cpu/nn/scratch_array.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Scores made at a time: they stay in a level 2 cache beside the operands.
constexpr std::int64_t kBlockScores = 16 * 1024;
constexpr std::int64_t kMinBlockRows = 16;
constexpr std::int64_t kMaxBlockRows = 64;
// A causal block computes scores up to its last row: the fewer rows, the fewer in vain.
constexpr std::int64_t kMaxCausalBlockRows = 32;

using Matrix = gemm::Matrix<float>;

// Where the matrices of a batch begin, last dim fastest.
std::vector<std::int64_t> offsets_of(const Shape& batch, const Strides& strides) {
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

// Matrices, one per head; T may be const.
template <class T>
struct Heads {
  T* data = nullptr;
  std::vector<std::int64_t> offsets;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  T* head(std::int64_t i) const { return data + offsets[static_cast<std::size_t>(i)]; }
};

template <class T>
Heads<T> make_heads(T* data, const Shape& batch, const Strides& strides) {
  return {data, offsets_of(batch, strides), strides[batch.size()], strides[batch.size() + 1]};
}

Heads<const float> make_heads(const kernel::HeadMatrices& matrices, const Shape& batch) {
  if (!matrices.memory) return {};
  return make_heads(matrices.memory.as<float>(), batch, matrices.strides);
}

// A call, with the place of every head found.
struct Problem {
  explicit Problem(const kernel::Attention& a)
      : heads(numel(a.batch)),
        queries(a.queries),
        keys(a.keys),
        features(a.features),
        value_features(a.value_features),
        scale(a.scale),
        is_causal(a.is_causal),
        query(make_heads(a.query, a.batch)),
        key(make_heads(a.key, a.batch)),
        value(make_heads(a.value, a.batch)),
        mask(make_heads(a.mask, a.batch)) {}

  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t features;
  std::int64_t value_features;
  float scale;
  bool is_causal;
  Heads<const float> query;
  Heads<const float> key;
  Heads<const float> value;
  Heads<const float> mask;
};

Matrix rows_of(const Heads<const float>& m, std::int64_t head, std::int64_t first) {
  return {m.head(head) + first * m.row_stride, m.row_stride, m.column_stride};
}

Matrix transposed(const Matrix& m) { return {m.data, m.column_stride, m.row_stride}; }

std::int64_t block_rows(const Problem& a) {
  const std::int64_t most = a.is_causal ? kMaxCausalBlockRows : kMaxBlockRows;
  return std::min(std::clamp(kBlockScores / a.keys, kMinBlockRows, most), a.queries);
}

// Rows of scores begin a whole number of vectors apart, and what is not seen is -infinity, whose
// exponential is zero: so rows are gone through in whole vectors only.
constexpr std::int64_t whole_vectors(std::int64_t count) {
  return (count + kLanes<float> - 1) / kLanes<float> * kLanes<float>;
}

template <class Body>
void for_each_whole_vector(std::int64_t count, Body&& body) {
  for (std::int64_t i = 0; i < count; i += kLanes<float>) body(WholeCursor<float>{i, {}});
}

// Some queries of one head, and the keys that any of them may see.
struct Block {
  Block(const Problem& attention, std::int64_t head, std::int64_t first)
      : attention(attention),
        head(head),
        first(first),
        rows(std::min(block_rows(attention), attention.queries - first)),
        columns(attention.is_causal ? std::min(attention.keys, first + rows) : attention.keys),
        stride(whole_vectors(columns)) {}

  // The keys that a row sees.
  std::int64_t seen(std::int64_t row) const {
    return attention.is_causal ? std::min(columns, first + row + 1) : columns;
  }

  const Problem& attention;
  std::int64_t head;
  std::int64_t first;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;  ///< between rows of scores
};

// Scores of a block, a row of block.columns for every query.
void compute_scores(const Block& block, float* scores) {
  const Problem& a = block.attention;
  gemm::gemm<float>(block.rows, block.columns, a.features, a.scale,
                    rows_of(a.query, block.head, block.first),
                    transposed(rows_of(a.key, block.head, 0)), 0, scores, block.stride);
  if (a.mask.data == nullptr) return;
  const Matrix mask = rows_of(a.mask, block.head, block.first);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    float* const to = scores + row * block.stride;
    const float* const from = mask.data + row * mask.row_stride;
    for (std::int64_t j = 0; j < block.columns; ++j) to[j] += from[j * mask.column_stride];
  }
}

float sum_of_lanes(Vec<float> x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// What makes weights of a row of exponentials.
struct RowSum {
  float inverse;
  float logarithm;  ///< of the sum of exp(score)
};

// Replaces the scores of a row by exponentials, zero for what is not seen.
RowSum exponentiate_row(float* x, std::int64_t seen, std::int64_t stride) {
  std::fill(x + seen, x + stride, -kInfinity);
  Vec<float> most = splat(-kInfinity);
  for_each_whole_vector(seen, [&](auto at) {
    const Vec<float> value = at.load(x);
    most = value > most ? value : most;
  });
  const float largest = std::max({most[0], most[1], most[2], most[3]});
  // NaN, which compares with nothing, has to come through where all else is hidden.
  const Vec<float> shift = splat(largest == -kInfinity ? 0.0F : largest);
  Vec<float> sums{};
  for_each_whole_vector(stride, [&](auto at) {
    const Vec<float> value = detail::exp_of_negative<float>(at.load(x) - shift);
    at.store(x, value);
    sums += value;
  });
  const float sum = sum_of_lanes(sums);
  if (sum == 0) return {0, kInfinity};
  return {1 / sum, shift[0] + std::log(sum)};
}

// Replaces the scores of a row by weights, and the gradients of weights by those of scores.
void softmax_row_backward(const Block& block, std::int64_t row, float* scores, float* grads,
                          float log_sum) {
  std::fill(scores + block.seen(row), scores + block.stride, -kInfinity);
  for (std::int64_t j = block.columns; j < block.stride; ++j) grads[j] = 0;
  const Vec<float> shift = splat(log_sum);
  Vec<float> sums{};
  for_each_whole_vector(block.stride, [&](auto at) {
    const Vec<float> weight = detail::exp_of_negative<float>(at.load(scores) - shift);
    at.store(scores, weight);
    sums += weight * at.load(grads);
  });
  const float mean = sum_of_lanes(sums);
  const float scale = block.attention.scale;
  for_each_whole_vector(block.stride, [&](auto at) {
    at.store(grads, at.load(scores) * (at.load(grads) - mean) * scale);
  });
}

// Whole heads or blocks are dealt out where there are enough of them; the products of few are each
// shared by all threads.
std::int64_t grain_for(std::int64_t tasks) { return tasks >= 2 * num_threads() ? 1 : tasks; }

void attend_block(const Block& block, const Heads<float>& out, float* log_sums, float* scores) {
  const Problem& a = block.attention;
  std::array<float, kMaxBlockRows> inverse;
  compute_scores(block, scores);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const RowSum sum = exponentiate_row(scores + row * block.stride, block.seen(row), block.stride);
    inverse[static_cast<std::size_t>(row)] = sum.inverse;
    log_sums[block.head * a.queries + block.first + row] = sum.logarithm;
  }
  float* const to = out.head(block.head) + block.first * out.row_stride;
  gemm::gemm<float>(block.rows, a.value_features, block.columns, 1, {scores, block.stride, 1},
                    rows_of(a.value, block.head, 0), 0, to, out.row_stride);
  // The sum divides the result, which is narrower than the row of weights.
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const float scale = inverse[static_cast<std::size_t>(row)];
    float* const y = to + row * out.row_stride;
    for_each_vector<float>(0, a.value_features, [&](auto at) { at.store(y, at.load(y) * scale); });
  }
}

// Packed [heads, rows, features] gradients.
struct AttentionGradients {
  float* query;
  float* key;
  float* value;
};

// What a block gives to the gradients of its head.
void add_block(const Block& block, const Heads<const float>& grad_out, const float* log_sums,
               const AttentionGradients& grads, float* weights, float* grad_scores) {
  const Problem& a = block.attention;
  const Matrix grad = rows_of(grad_out, block.head, block.first);
  const std::int64_t query_row = block.head * a.queries + block.first;
  const std::int64_t key_row = block.head * a.keys;
  compute_scores(block, weights);
  gemm::gemm<float>(block.rows, block.columns, a.value_features, 1, grad,
                    transposed(rows_of(a.value, block.head, 0)), 0, grad_scores, block.stride);
  for (std::int64_t row = 0; row < block.rows; ++row)
    softmax_row_backward(block, row, weights + row * block.stride, grad_scores + row * block.stride,
                         log_sums[query_row + row]);
  gemm::gemm<float>(block.rows, a.features, block.columns, 1, {grad_scores, block.stride, 1},
                    rows_of(a.key, block.head, 0), 0, grads.query + query_row * a.features,
                    a.features);
  gemm::gemm<float>(block.columns, a.features, block.rows, 1, {grad_scores, 1, block.stride},
                    rows_of(a.query, block.head, block.first), 1, grads.key + key_row * a.features,
                    a.features);
  gemm::gemm<float>(block.columns, a.value_features, block.rows, 1, {weights, 1, block.stride},
                    grad, 1, grads.value + key_row * a.value_features, a.value_features);
}

void attend(const Problem& a, const Heads<float>& out, float* log_sums) {
  const std::int64_t rows = block_rows(a);
  const std::int64_t blocks = (a.queries + rows - 1) / rows;
  parallel_for(
      0, a.heads * blocks, grain_for(a.heads * blocks), [&](std::int64_t begin, std::int64_t end) {
        const ScratchArray<float> scores(rows * whole_vectors(a.keys));
        for (std::int64_t task = begin; task < end; ++task)
          attend_block(Block(a, task / blocks, task % blocks * rows), out, log_sums, scores.data());
      });
}

void attend_backward(const Problem& a, const Heads<const float>& grad_out, const float* log_sums,
                     const AttentionGradients& grads) {
  std::fill_n(grads.key, a.heads * a.keys * a.features, 0.0F);
  std::fill_n(grads.value, a.heads * a.keys * a.value_features, 0.0F);
  const std::int64_t rows = block_rows(a);
  parallel_for(0, a.heads, grain_for(a.heads), [&](std::int64_t begin, std::int64_t end) {
    const ScratchArray<float> weights(rows * whole_vectors(a.keys));
    const ScratchArray<float> grad_scores(rows * whole_vectors(a.keys));
    for (std::int64_t head = begin; head < end; ++head) {
      for (std::int64_t first = 0; first < a.queries; first += rows)
        add_block(Block(a, head, first), grad_out, log_sums, grads, weights.data(),
                  grad_scores.data());
    }
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Attend::compute_on_cpu() const {
  cpu::attend(cpu::Problem(attention), cpu::make_heads(y.as<float>(), attention.batch, y_strides),
              log_sums.as<float>());
}

void AttendBackward::compute_on_cpu() const {
  cpu::attend_backward(cpu::Problem(attention), cpu::make_heads(grad_y, attention.batch),
                       log_sums.as<float>(),
                       {grad_query.as<float>(), grad_key.as<float>(), grad_value.as<float>()});
}

}  // namespace eg::kernel
