#pragma once

// What the ops of linear algebra share: tensors as batches of packed matrices, checks with the
// names torch.linalg has for itself ("linalg.inv"), and solving.

#include <string>
#include <string_view>

#include "dispatch/record.h"
#include "dispatch/var.h"
#include "kernels/linalg.h"
#include "tensor/tensor.h"

namespace eg {

/// All dims but the last two.
Shape batch_of(const Tensor& t);
/// An uninitialised batch of matrices beside `t`.
Tensor empty_matrices(const Tensor& t, std::int64_t rows, std::int64_t columns);
/// The matrices of `t` for every position of a batch that its leading dims broadcast to.
Tensor expand_batch(const Tensor& t, const Shape& batch);
/// The sizes of the matrices of a packed tensor.
kernel::MatrixBatch matrices(const Tensor& packed);
/// `n` ones on a diagonal, with the dtype and device of `like`.
Tensor identity(std::int64_t n, const Tensor& like);

/// The numbers that an op of matrices takes.
enum class MatrixNumbers : std::uint8_t { kReal, kRealOrComplex };

/// Throws unless `t` holds matrices of such numbers, as floats. `name` is the argument's, `op` the
/// op's, and `api` what PyTorch calls the function.
void check_matrix(const Tensor& t, std::string_view name, std::string_view op, std::string_view api,
                  MatrixNumbers numbers = MatrixNumbers::kReal);
/// Throws unless `t` holds square matrices of such numbers.
void check_square(const Tensor& t, std::string_view name, std::string_view op, std::string_view api,
                  MatrixNumbers numbers = MatrixNumbers::kReal);

/// Where a factorisation broke down; the kernel says it here.
struct FirstBreakdown {
  std::int64_t matrix = -1;
  std::int64_t order = 0;

  bool exists() const { return matrix >= 0; }
  kernel::Breakdown memory() { return {kernel::host_number(matrix), kernel::host_number(order)}; }
  /// "(Batch element 3): " where `a`, which was factorised, is a batch.
  std::string location(const Tensor& a) const;
};

/// The matrix product, the transpose and the conjugate transpose of matrices, as formulas.
Var product(const Var& a, const Var& b);
Var transpose(const Var& t);
Var adjoint(const Var& t);

/// The X with A X = B for operands with the same leading dims, recorded as `solve` of real or of
/// complex numbers. What comes of a singular A is not finite.
Tensor solve_unchecked(const Tensor& a, const Tensor& b);

}  // namespace eg
