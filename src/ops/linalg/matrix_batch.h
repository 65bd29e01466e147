#pragma once

// Shared by the linear algebra ops: tensors as batches of packed matrices, checks and solving.

#include <string>
#include <string_view>

#include "dispatch/record.h"
#include "dispatch/var.h"
#include "kernels/linalg.h"
#include "tensor/tensor.h"

namespace eg {

/// All dims but the last two.
Shape batch_of(const Tensor& t);
/// An uninitialized batch of matrices with the batch dims, dtype and device of `t`.
Tensor empty_matrices(const Tensor& t, std::int64_t rows, std::int64_t columns);
/// `t` with its leading dims expanded to `batch`.
Tensor expand_batch(const Tensor& t, const Shape& batch);
/// The sizes of the matrices of a packed tensor.
kernel::MatrixBatch matrices(const Tensor& packed);
/// The identity matrix of size `n`, with the dtype and device of `like`.
Tensor identity(std::int64_t n, const Tensor& like);

/// Throws unless `t` holds matrices of real or complex floating-point numbers. `name` is the name
/// of the argument, `op` that of the op.
void check_matrix(const Tensor& t, std::string_view name, std::string_view op);
/// Throws unless `t` holds square matrices of such numbers.
void check_square(const Tensor& t, std::string_view name, std::string_view op);

/// Where a factorisation failed; written by the kernel.
struct FirstBreakdown {
  std::int64_t matrix = -1;
  std::int64_t order = 0;

  bool exists() const { return matrix >= 0; }
  kernel::Breakdown memory() { return {kernel::host_number(matrix), kernel::host_number(order)}; }
  /// "matrix 3 of the batch: " if `a`, the factorised tensor, is a batch; else empty.
  std::string location(const Tensor& a) const;
  /// Throws if the matrix has elements that are NaN or infinite, which explain the breakdown.
  void check_finite(const Tensor& a, std::string_view op) const;
};

/// The X with A X = B for operands with the same leading dims, recorded as `solve` of real or of
/// complex numbers. For a singular A the result is not finite.
Tensor solve_unchecked(const Tensor& a, const Tensor& b);

}  // namespace eg
