#pragma once

// The operands of attention: one matrix per head, with any strides between heads.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/cpu/matrix/gemm/gemm.h"
#include "base/checked_int.h"
#include "kernels/attention.h"

namespace eg::cpu {

using Matrix = gemm::Matrix<float>;

/// Returns the offsets of the matrices of a batch, last dimension fastest.
inline std::vector<std::int64_t> offsets_of(const Shape& batch, const Strides& strides) {
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

/// Matrices, one per head; T may be const.
template <class T>
struct Heads {
  T* data = nullptr;
  std::vector<std::int64_t> offsets;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  T* head(std::int64_t i) const { return data + offsets[static_cast<std::size_t>(i)]; }
};

/// Locates the matrix of every head.
template <class T>
Heads<T> make_heads(T* data, const Shape& batch, const Strides& strides) {
  return {data, offsets_of(batch, strides), strides[batch.size()], strides[batch.size() + 1]};
}

template <class Matrices>
Heads<const float> make_heads(const Matrices& matrices, const Shape& batch) {
  return make_heads(matrices.memory.template as<float>(), batch, matrices.strides);
}

/// A call of attention, with the matrices of all heads located.
struct AttentionProblem {
  explicit AttentionProblem(const kernel::Attention& a)
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
        mask(a.mask.memory ? make_heads(a.mask, a.batch) : Heads<const float>()) {}

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

/// Returns the rows of a head from `first` on.
inline Matrix rows_of(const Heads<const float>& m, std::int64_t head, std::int64_t first = 0) {
  return {m.head(head) + first * m.row_stride, m.row_stride, m.column_stride};
}

}  // namespace eg::cpu
