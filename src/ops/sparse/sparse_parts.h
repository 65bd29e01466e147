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
/// The coordinates, int64 [sparse dimensions, nnz], in either layout.
Tensor coordinates(const SparsePattern& pattern);
/// The position of each value in row-major order of the sparse dimensions, int64 [nnz].
Tensor positions(const Shape& shape, const SparsePattern& pattern);
/// `t` with its sparse dimensions, `sparse_dim` of them, as one.
Tensor with_one_sparse_dim(const Tensor& t, std::int64_t sparse_dim);

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

/// The matrix in CSR layout; itself if it has it.
Tensor to_csr(const Tensor& matrix);
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

/// Throws InvalidArgument for a sparse tensor.
void check_dense(const Tensor& t, std::string_view op, std::string_view name);

}  // namespace eg
