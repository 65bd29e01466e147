// Attention is computed for a block of queries of one head at a time, so that scores exist only for
// those, in scratch memory that stays in a cache.

#include "kernels/attention.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "backend/cpu/nn/attention_heads.h"
#include "backend/cpu/nn/attention_tiles.h"
#include "backend/cpu/nn/scratch_array.h"
#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vec_kernels.h"
#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A block of queries of one head, and the keys that any of them may see.
struct Block {
  Block(const AttentionProblem& attention, const gemm::Strips& strips, std::int64_t head,
        std::int64_t first)
      : attention(attention),
        strips(strips),
        head(head),
        first(first),
        rows(std::min(kBlockQueries, attention.queries - first)),
        panels(divide_up(rows, kPanelQueries)),
        visible(visible_before(rows)) {
    while (visible_strips < strips.size() && strips.begin(visible_strips) < visible)
      ++visible_strips;
    computed = visible_strips < strips.size() ? strips.begin(visible_strips) : attention.keys;
  }

  // Returns the number of keys visible to the queries before `row`.
  std::int64_t visible_before(std::int64_t row) const {
    return attention.is_causal ? std::min(attention.keys, first + row) : attention.keys;
  }

  std::int64_t visible_to_panel(std::int64_t panel) const {
    return visible_before(std::min(rows, (panel + 1) * kPanelQueries));
  }

  // Returns the first query to which any of the keys from `key` on is visible.
  std::int64_t first_query_seeing(std::int64_t key) const {
    return attention.is_causal ? std::max<std::int64_t>(0, key - first) : 0;
  }

  const AttentionProblem& attention;
  const gemm::Strips& strips;  ///< of keys
  std::int64_t head;
  std::int64_t first;
  std::int64_t rows;  ///< queries
  std::int64_t panels;
  std::int64_t visible;  ///< keys
  std::int64_t visible_strips = 0;
  std::int64_t computed;  ///< keys in these strips; each has a row of scores
};

// Computes the products of a head's keys (or values) with the panels of a block's queries (or
// gradients), for those panels to which the keys are visible.
[[gnu::noinline]] void multiply_keys(const Block& block, const Rows& keys, const float* panels,
                                     std::int64_t features, float* scores) {
  for (std::int64_t j = 0; j < block.panels; ++j)
    multiply_features(block.strips, block.visible_to_panel(j), keys,
                      panels + j * kPanelQueries * features, features, scores + j * kPanelQueries);
}

// Masked scores are -infinity, whose exponential is zero.
[[gnu::noinline]] void mask_scores(const Block& block, float* scores) {
  const AttentionProblem& a = block.attention;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::int64_t visible = block.visible_before(row + 1);
    const std::int64_t of_panel = block.visible_to_panel(row / kPanelQueries);
    float* const to = scores + row;
    if (a.mask.data != nullptr) {
      const Matrix mask = rows_of(a.mask, block.head, block.first + row);
      for (std::int64_t key = 0; key < visible; ++key)
        to[key * kBlockQueries] += mask.data[key * mask.column_stride];
    }
    for (std::int64_t key = visible; key < of_panel; ++key) to[key * kBlockQueries] = -kInfinity;
  }
}

// One number for every query of a panel.
struct PanelVec {
  static constexpr int kVectors = gemm::kPanelVectors;
  Vec<float> v[kVectors];

  static PanelVec load(const float* from) {
    PanelVec x;
    std::memcpy(x.v, from, sizeof x.v);
    return x;
  }
  void store(float* to) const { std::memcpy(to, v, sizeof v); }
};

template <class Body>
PanelVec for_lanes(Body&& body) {
  PanelVec result;
  for (int i = 0; i < PanelVec::kVectors; ++i) result.v[i] = body(i);
  return result;
}

// Zeroes the scores of keys that are visible to other queries of the block but to none of the
// panel.
void clear_masked(const Block& block, std::int64_t panel, float* scores) {
  for (std::int64_t key = block.visible_to_panel(panel); key < block.computed; ++key)
    PanelVec{}.store(scores + key * kBlockQueries);
}

// Replaces the scores of a panel by exponentials, and writes two normalizers for every query: the
// inverse of the sum of the exponentials, and the logarithm of the sum of exp(score).
void exponentiate_panel(const Block& block, std::int64_t panel, float* scores, float* inverses,
                        float* logarithms) {
  float* const x = scores + panel * kPanelQueries;
  const std::int64_t visible = block.visible_to_panel(panel);
  PanelVec most = for_lanes([](int) { return splat(-kInfinity); });
  for (std::int64_t key = 0; key < visible; ++key) {
    const PanelVec value = PanelVec::load(x + key * kBlockQueries);
    most = for_lanes([&](int i) { return value.v[i] > most.v[i] ? value.v[i] : most.v[i]; });
  }
  // NaN never compares greater, but must propagate even if everything else is masked.
  const PanelVec shift =
      for_lanes([&](int i) { return most.v[i] == -kInfinity ? Vec<float>{} : most.v[i]; });
  PanelVec sum{};
  for (std::int64_t key = 0; key < visible; ++key) {
    float* const at = x + key * kBlockQueries;
    const PanelVec value = PanelVec::load(at);
    const PanelVec exponential =
        for_lanes([&](int i) { return detail::exp_of_negative<float>(value.v[i] - shift.v[i]); });
    exponential.store(at);
    sum = for_lanes([&](int i) { return sum.v[i] + exponential.v[i]; });
  }
  clear_masked(block, panel, x);
  for_lanes([&](int i) {
    return sum.v[i] == 0 ? Vec<float>{} : 1 / sum.v[i];
  }).store(inverses + panel * kPanelQueries);
  for_lanes([&](int i) {
    return sum.v[i] == 0 ? splat(kInfinity) : shift.v[i] + vec_log(sum.v[i]);
  }).store(logarithms + panel * kPanelQueries);
}

// Replaces the scores of a panel by weights, and the gradients with respect to weights by those
// with respect to scores.
void softmax_panel_backward(const Block& block, std::int64_t panel, float* scores, float* grads,
                            const float* log_sums) {
  float* const x = scores + panel * kPanelQueries;
  float* const g = grads + panel * kPanelQueries;
  const std::int64_t visible = block.visible_to_panel(panel);
  const PanelVec shift = PanelVec::load(log_sums + panel * kPanelQueries);
  PanelVec mean{};
  for (std::int64_t key = 0; key < visible; ++key) {
    float* const at = x + key * kBlockQueries;
    const PanelVec value = PanelVec::load(at);
    const PanelVec grad = PanelVec::load(g + key * kBlockQueries);
    const PanelVec weight =
        for_lanes([&](int i) { return detail::exp_of_negative<float>(value.v[i] - shift.v[i]); });
    weight.store(at);
    mean = for_lanes([&](int i) { return mean.v[i] + weight.v[i] * grad.v[i]; });
  }
  const Vec<float> scale = splat(block.attention.scale);
  for (std::int64_t key = 0; key < visible; ++key) {
    const PanelVec weight = PanelVec::load(x + key * kBlockQueries);
    const PanelVec grad = PanelVec::load(g + key * kBlockQueries);
    for_lanes([&](int i) {
      return weight.v[i] * (grad.v[i] - mean.v[i]) * scale;
    }).store(g + key * kBlockQueries);
  }
  clear_masked(block, panel, x);
  clear_masked(block, panel, g);
}

// Multiplies a block's scores by the rows of its keys (or values): one output row for every query.
void multiply_by_keys(const Block& block, const float* scores, const Rows& rows,
                      std::int64_t columns, float* to, std::int64_t row_stride) {
  const gemm::Strips strips(block.rows);
  for (std::int64_t i = 0; i < strips.size(); ++i) {
    const std::int64_t row = strips.begin(i);
    const auto count = static_cast<std::int64_t>(strips.rows(i));
    multiply_scores<gemm::Reads::kColumns>(strips.rows(i), scores + row, rows,
                                           block.visible_before(row + count), columns,
                                           to + row * row_stride, row_stride, false);
  }
}

// Adds the products of a block's scores and the rows of its queries (or gradients): one output row
// for every key.
void add_by_queries(const Block& block, const float* scores, const Rows& rows, std::int64_t columns,
                    float* to) {
  for (std::int64_t i = 0; i < block.visible_strips; ++i) {
    const std::int64_t key = block.strips.begin(i);
    const std::int64_t query = block.first_query_seeing(key);
    multiply_scores<gemm::Reads::kRows>(block.strips.rows(i), scores + key * kBlockQueries + query,
                                        rows.after(query), block.rows - query, columns,
                                        to + key * columns, columns, true);
  }
}

// The state of one thread in the forward pass.
class AttentionForwardTask {
 public:
  AttentionForwardTask(const AttentionProblem& a, const Heads<float>& out, float* log_sums)
      : a_(a),
        out_(out),
        log_sums_(log_sums),
        strips_(a.keys),
        key_copies_(row_copy_size(a.key, a.keys, a.features)),
        value_copies_(row_copy_size(a.value, a.keys, a.value_features)),
        query_panels_(kBlockQueries * a.features),
        scores_(a.keys * kBlockQueries) {}

  void start_head(std::int64_t head) {
    head_ = head;
    key_ = rows_in_place(rows_of(a_.key, head), a_.keys, a_.features, key_copies_);
    value_ = rows_in_place(rows_of(a_.value, head), a_.keys, a_.value_features, value_copies_);
  }

  void attend(std::int64_t first) {
    const Block block(a_, strips_, head_, first);
    float* const scores = scores_.data();
    pack_panels(query_panels_.data(), rows_of(a_.query, head_, first), block.rows, a_.features,
                a_.scale);
    multiply_keys(block, key_, query_panels_.data(), a_.features, scores);
    mask_scores(block, scores);
    std::array<float, kBlockQueries> inverses;
    std::array<float, kBlockQueries> logarithms;
    for (std::int64_t j = 0; j < block.panels; ++j)
      exponentiate_panel(block, j, scores, inverses.data(), logarithms.data());
    std::copy_n(logarithms.data(), block.rows, log_sums_ + head_ * a_.queries + first);

    float* const to = out_.head(head_) + first * out_.row_stride;
    multiply_by_keys(block, scores, value_, a_.value_features, to, out_.row_stride);
    // The output is divided by the sum instead of the weights, because its rows are shorter.
    for (std::int64_t row = 0; row < block.rows; ++row) {
      const float scale = inverses[static_cast<std::size_t>(row)];
      float* const y = to + row * out_.row_stride;
      for_each_vector<float>(0, a_.value_features,
                             [&](auto at) { at.store(y, at.load(y) * scale); });
    }
  }

 private:
  const AttentionProblem& a_;
  const Heads<float>& out_;
  float* log_sums_;
  gemm::Strips strips_;
  ScratchArray<float> key_copies_;
  ScratchArray<float> value_copies_;
  ScratchArray<float> query_panels_;
  ScratchArray<float> scores_;
  std::int64_t head_ = 0;
  Rows key_{};
  Rows value_{};
};

void attend(const AttentionProblem& a, const Heads<float>& out, float* log_sums) {
  const std::int64_t blocks = divide_up(a.queries, kBlockQueries);
  parallel_for(0, a.heads * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    AttentionForwardTask attending(a, out, log_sums);
    for (std::int64_t task = begin; task < end; ++task) {
      if (task == begin || task % blocks == 0) attending.start_head(task / blocks);
      attending.attend(task % blocks * kBlockQueries);
    }
  });
}

// Packed [heads, rows, features] gradients.
struct AttentionGradients {
  float* query;
  float* key;
  float* value;
};

// The state of one thread in the backward pass.
class AttentionBackwardTask {
 public:
  AttentionBackwardTask(const AttentionProblem& a, const Heads<const float>& grad_out,
                        const float* log_sums, const AttentionGradients& grads)
      : a_(a),
        grad_out_(grad_out),
        log_sums_(log_sums),
        grads_(grads),
        strips_(a.keys),
        key_copies_(row_copy_size(a.key, a.keys, a.features)),
        value_copies_(row_copy_size(a.value, a.keys, a.value_features)),
        query_panels_(kBlockQueries * a.features),
        grad_panels_(kBlockQueries * a.value_features),
        query_copies_(row_copy_size(a.query, kBlockQueries, a.features)),
        grad_copies_(row_copy_size(grad_out, kBlockQueries, a.value_features)),
        weights_(a.keys * kBlockQueries),
        grad_scores_(a.keys * kBlockQueries) {}

  void add_head(std::int64_t head) {
    key_ = rows_in_place(rows_of(a_.key, head), a_.keys, a_.features, key_copies_);
    value_ = rows_in_place(rows_of(a_.value, head), a_.keys, a_.value_features, value_copies_);
    std::fill_n(grads_.key + head * a_.keys * a_.features, a_.keys * a_.features, 0.0F);
    std::fill_n(grads_.value + head * a_.keys * a_.value_features, a_.keys * a_.value_features,
                0.0F);
    for (std::int64_t first = 0; first < a_.queries; first += kBlockQueries)
      add_block(Block(a_, strips_, head, first));
  }

 private:
  // Adds the contribution of a block to the gradients of its head.
  void add_block(const Block& block) {
    const Rows query = rows_in_place(rows_of(a_.query, block.head, block.first), block.rows,
                                     a_.features, query_copies_);
    // Copied if it is a single broadcast number, as it is for the gradient of a sum.
    const Rows grad = rows_in_place(rows_of(grad_out_, block.head, block.first), block.rows,
                                    a_.value_features, grad_copies_);
    float* const weights = weights_.data();
    float* const grad_scores = grad_scores_.data();
    pack_panels(query_panels_.data(), query.matrix(), block.rows, a_.features, a_.scale);
    multiply_keys(block, key_, query_panels_.data(), a_.features, weights);
    mask_scores(block, weights);
    pack_panels(grad_panels_.data(), grad.matrix(), block.rows, a_.value_features, 1);
    multiply_keys(block, value_, grad_panels_.data(), a_.value_features, grad_scores);

    const std::int64_t query_row = block.head * a_.queries + block.first;
    std::array<float, kBlockQueries> log_sums{};
    std::copy_n(log_sums_ + query_row, block.rows, log_sums.data());
    for (std::int64_t j = 0; j < block.panels; ++j)
      softmax_panel_backward(block, j, weights, grad_scores, log_sums.data());

    const std::int64_t key_row = block.head * a_.keys;
    multiply_by_keys(block, grad_scores, key_, a_.features, grads_.query + query_row * a_.features,
                     a_.features);
    add_by_queries(block, grad_scores, query, a_.features, grads_.key + key_row * a_.features);
    add_by_queries(block, weights, grad, a_.value_features,
                   grads_.value + key_row * a_.value_features);
  }

  const AttentionProblem& a_;
  const Heads<const float>& grad_out_;
  const float* log_sums_;
  const AttentionGradients& grads_;
  gemm::Strips strips_;
  ScratchArray<float> key_copies_;
  ScratchArray<float> value_copies_;
  ScratchArray<float> query_panels_;
  ScratchArray<float> grad_panels_;
  ScratchArray<float> query_copies_;
  ScratchArray<float> grad_copies_;
  ScratchArray<float> weights_;
  ScratchArray<float> grad_scores_;
  Rows key_{};
  Rows value_{};
};

void attend_backward(const AttentionProblem& a, const Heads<const float>& grad_out,
                     const float* log_sums, const AttentionGradients& grads) {
  parallel_for(0, a.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    AttentionBackwardTask attending(a, grad_out, log_sums, grads);
    for (std::int64_t head = begin; head < end; ++head) attending.add_head(head);
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Attend::compute_on_cpu() const {
  cpu::attend(cpu::AttentionProblem(attention),
              cpu::make_heads(y.as<float>(), attention.batch, y_strides), log_sums.as<float>());
}

void AttendBackward::compute_on_cpu() const {
  cpu::attend_backward(cpu::AttentionProblem(attention), cpu::make_heads(grad_y, attention.batch),
                       log_sums.as<float>(),
                       {grad_query.as<float>(), grad_key.as<float>(), grad_value.as<float>()});
}

}  // namespace eg::kernel
