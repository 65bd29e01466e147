#pragma once

// What the ops on sparse tensors share: positions as numbers, and tensors of given positions.

#include <string_view>

#include "tensor/sparse.h"

namespace eg {

/// Integers plus a number.
Tensor shifted(const Tensor& integers, int by);
/// The integers from 0 to count - 1.
Tensor numbers_below(std::int64_t count, Device device);
/// The sizes of the sparse dimensions, which come first.
Shape sparse_sizes(const Shape& shape, const SparsePattern& pattern);
/// The position in row-major order of a tensor of these sizes, for each column of coordinates;
/// int64. Only as many coordinates are read as there are sizes.
Tensor row_major(const Tensor& coordinates, const Shape& sizes);
/// The coordinates of positions in row-major order of a tensor of these sizes.
TensorList coordinates_of(const Tensor& positions, const Shape& sizes);
/// The coordinates, int64 [sparse dimensions, nnz], in either layout.
Tensor coordinates(const SparsePattern& pattern);
/// The position of each value in row-major order of the sparse dimensions, int64 [nnz].
Tensor positions(const Shape& shape, const SparsePattern& pattern);
/// `t` with its sparse dimensions, `sparse_dim` of them, as one.
Tensor with_one_sparse_dim(const Tensor& t, std::int64_t sparse_dim);

/// For each number n, pairs of it with the numbers from first[n] to last[n] - 1; int64 vectors.
struct Pairs {
  Tensor left;   ///< n
  Tensor right;  ///< one of its numbers
};
Pairs pairs_with_ranges(const Tensor& first, const Tensor& last);

/// `rows` with values added to the rows `at`, also in dtypes that have no kernels for it.
Tensor add_rows(const Tensor& rows, const Tensor& at, const Tensor& values);

/// The parts of a sparse tensor for an op; gradients flow from the values. A tensor that requires
/// gradients is coalesced first.
struct Pieces {
  explicit Pieces(const Tensor& t);

  Shape shape;
  IntrusivePtr<SparsePattern> pattern;
  Tensor values;
};

/// A sparse tensor of a pattern; gradients flow to its values.
Tensor with_values(const Shape& shape, IntrusivePtr<SparsePattern> pattern, const Tensor& values);
/// The elements of `t`, dense or sparse, at the positions of a pattern; gradients flow to `t`.
Tensor values_at(const Tensor& t, const SparsePattern& pattern);
/// A pattern in COO layout of the coordinates [sparse dimensions, nnz].
IntrusivePtr<SparsePattern> coo_pattern(Tensor indices, bool is_coalesced);
/// A pattern in CSR layout.
IntrusivePtr<SparsePattern> csr_pattern(Tensor columns, Tensor row_starts, const Shape& batch = {});

/// The matrix in CSR layout, or a batch of matrices after the first `batch_dims` dimensions; itself
/// if it has it. InvalidArgument if the matrices of a batch have different numbers of values.
Tensor to_csr(const Tensor& t, std::int64_t batch_dims = 0);
/// The sum of two tensors of the same shape of which at least one is sparse; sparse if both are.
Tensor add_sparse(const Tensor& a, const Tensor& b);
/// a += b, not recorded, of which at least one is sparse; a must not be sparse if b is dense.
void add_sparse_in_place(const Tensor& a, const Tensor& b);
/// A tensor of the layout and shape of `t`, which is sparse, without values.
Tensor sparse_zeros_like(const Tensor& t, DType dtype);
/// Makes `t`, which is sparse, zero by removing all of its values; returns it.
Tensor clear_sparse(const Tensor& t);
/// The same positions on another device.
IntrusivePtr<SparsePattern> moved_pattern(const SparsePattern& pattern, Device device);
/// A copy with parts of its own.
Tensor clone_sparse(const Tensor& t);
/// Gives `t` copies of the parts of `source`, in its own layout and dtype; returns `t`.
Tensor copy_sparse(const Tensor& t, const Tensor& source);

/// Throws InvalidArgument for a dense tensor.
void check_sparse(const Tensor& t, std::string_view op, std::string_view name);
/// Throws InvalidArgument for a sparse tensor.
void check_dense(const Tensor& t, std::string_view op, std::string_view name);

}  // namespace eg
