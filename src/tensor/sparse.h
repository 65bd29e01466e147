#pragma once

// Sparse tensors: the layouts in which a tensor is its nonzero elements and their positions.
//
// A sparse tensor has a shape, a dtype, a device and a history like any other, but its storage is
// empty: its elements are `values`, and a pattern says where they are. Both are made of ordinary
// tensors, so ops on sparse tensors are composed of ops on these (ops/sparse), and kernels do not
// know of them. An op that does not say that it takes sparse tensors never gets one: handles are
// checked where arguments are read, and the engine makes a gradient dense before it enters a node
// that cannot take it.
//
// The parts are immutable and shared. What changes a sparse tensor in place gives it other parts.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/heap/pool.h"
#include "base/intrusive_ptr.h"
#include "tensor/tensor.h"

namespace eg {

/// How the elements of a tensor are stored.
enum class Layout : std::uint8_t {
  kStrided,    ///< all of them, at strides
  kSparseCoo,  ///< some, each with its coordinates
  kSparseCsr,  ///< some of a matrix, row by row
};
constexpr std::array<std::string_view, 3> enum_names(Layout) {
  return {"strided", "sparse_coo", "sparse_csr"};
}

/// Where the values of a sparse tensor are. A batch of matrices in CSR layout, each with as many
/// values as the others, is one matrix with the rows of all.
struct SparsePattern final : RefCounted, Pooled {
  SparsePattern(Layout layout, Tensor indices, Tensor row_starts, bool is_coalesced,
                Shape batch = {})
      : layout(layout),
        is_coalesced(is_coalesced),
        indices(std::move(indices)),
        row_starts(std::move(row_starts)),
        batch(std::move(batch)) {}

  Layout layout;
  /// Whether every position occurs once, in row-major order. Always true for CSR.
  bool is_coalesced;
  /// int64: [sparse dimensions, nnz] for COO, where a position may occur several times and its
  /// values are summed; the columns, [nnz], for CSR.
  Tensor indices;
  /// int64 [rows + 1]: where each row of CSR begins among the values. Undefined for COO.
  Tensor row_starts;
  /// The dimensions before those of a matrix in CSR layout.
  Shape batch;

  std::int64_t nnz() const { return indices.size(-1); }
  /// The number of values of each matrix of a batch.
  std::int64_t nnz_of_each() const { return nnz() / std::max<std::int64_t>(1, numel(batch)); }
  /// The number of dimensions that the indices cover; the values have the others.
  std::int64_t sparse_dim() const {
    return layout == Layout::kSparseCsr ? static_cast<std::int64_t>(batch.size()) + 2
                                        : indices.size(0);
  }

  static void on_last_release(SparsePattern* pattern) { delete pattern; }
};

/// What a sparse tensor has in place of a storage.
struct SparseParts final : RefCounted, Pooled {
  SparseParts(IntrusivePtr<SparsePattern> pattern, Tensor values)
      : pattern(std::move(pattern)), values(std::move(values)) {}

  IntrusivePtr<SparsePattern> pattern;
  /// [nnz, ...dense dimensions]; has no history, which is the sparse tensor's.
  Tensor values;

  static void on_last_release(SparseParts* parts) { delete parts; }
};

/// Makes a sparse tensor without history. The caller has checked that the parts fit the shape.
Tensor make_sparse(const Shape& shape, IntrusivePtr<SparsePattern> pattern, const Tensor& values);

inline Layout layout(const Tensor& t) {
  return t.is_sparse() ? t.sparse().pattern->layout : Layout::kStrided;
}

}  // namespace eg
