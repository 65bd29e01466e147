#pragma once

// Sparse tensors as ops: making one of its parts, and taking it apart (tensor/sparse.h has the
// layouts). All other ops on sparse tensors are composed of these and of ops on the parts, so their
// gradients follow.
//
// A sparse gradient is the gradient of the tensor, not of its list of values: where a position
// occurs several times, its element is the sum of all values there. Hence only a coalesced tensor
// has values with a gradient.

#include <optional>

#include "dispatch/function_op.h"
#include "tensor/sparse.h"

namespace eg {

struct SparseTensor {
  static constexpr op::Doc doc{"sparse_tensor", "A sparse tensor of its parts, which are checked."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"values"}, Arg{"indices"}, Arg{"row_starts"}, Arg{"size"},
                                   Arg{"is_coalesced"}};
  /// With `row_starts` in CSR layout, else in COO layout.
  static Tensor call(const Tensor& values, const Tensor& indices,
                     const std::optional<Tensor>& row_starts, const Dims& size, bool is_coalesced);
};

struct SparseValues {
  static constexpr op::Doc doc{
      "sparse_values",
      "The values of a sparse tensor, [nnz, ...dense dimensions], which it "
      "shares memory with unless it is recorded; or with recorded: false "
      "as they are stored, without history."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"recorded"}};
  static Tensor call(const Tensor& input, bool recorded);
};

struct SparseIndices {
  static constexpr op::Doc doc{"sparse_indices",
                               "Copies of the indices of a sparse tensor: coordinates for COO, "
                               "row starts and columns for CSR."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static TensorList call(const Tensor& input);
};

struct Coalesce {
  static constexpr op::Doc doc{"coalesce",
                               "input with every position once, in row-major order: the values of "
                               "a position that occurs several times are summed."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr bool makes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<Coalesce>& b) { return {b.grad()}; }
};

struct ToSparse {
  static constexpr op::Doc doc{"to_sparse",
                               "input in sparse COO layout: the elements that are not zero and "
                               "their coordinates in the first sparseDim dimensions, or in all."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"sparse_dim", "null"}};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> sparse_dim = {});
};

struct ToSparseCsr {
  static constexpr op::Doc doc{"to_sparse_csr",
                               "A matrix, or a batch of matrices, in sparse CSR layout, row by "
                               "row; the values have the last denseDim dimensions."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dense_dim", "null"}};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> dense_dim = {});
};

struct ToDense {
  static constexpr op::Doc doc{"to_dense",
                               "input with all elements in memory; input itself if it is dense."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static Tensor call(const Tensor& input);
};

struct SparseMask {
  static constexpr op::Doc doc{"sparse_mask", "The elements of input at the positions of mask."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"mask"}};
  static Tensor call(const Tensor& input, const Tensor& mask);
};

struct SparseSampled {
  static constexpr op::Doc doc{"sparse_sampled",
                               "The elements of mat1 @ mat2 at the positions of mask."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"mask"}, Arg{"mat1"}, Arg{"mat2"}};
  static Tensor call(const Tensor& mask, const Tensor& mat1, const Tensor& mat2);
};

struct SparseSolve {
  static constexpr op::Doc doc{"sparse_solve",
                               "The x with input @ x = b for a square sparse matrix, which must "
                               "not be singular; b is a vector or a matrix."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"b"}};
  static Tensor call(const Tensor& input, const Tensor& b);
};

using SparseOps = TypeList<SparseTensor, SparseValues, SparseIndices, Coalesce, ToSparse,
                           ToSparseCsr, ToDense, SparseMask, SparseSampled, SparseSolve>;

}  // namespace eg
