#pragma once

// Matrix products over a batch, in any real dtype: how the layouts of tensors meet gemm.
//
// The batch may have any number of dimensions and any strides, 0 where an operand repeats. Runs of
// matrices at equal distances go to gemm as one batch, or, where all of them meet the same right
// operand, as one tall product; nothing is copied. float and double use the packed kernels of
// gemm/, integers a plain loop that wraps around.

#include "base/dtype.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace eg::cpu {

/// Matrices in memory; strides count elements.
struct Matrices {
  void* data = nullptr;
  Strides batch_strides;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// The same matrices with rows and columns exchanged.
inline Matrices transposed(Matrices matrices) {
  std::swap(matrices.row_stride, matrices.column_stride);
  return matrices;
}

/// C = alpha * A B + beta * C + bias for every matrix of a batch.
struct MatrixProduct {
  DType dtype;
  Shape batch;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  Matrices a;
  Matrices b;
  /// Has column stride 1 and repeats nothing; it is not read when beta is 0.
  Matrices c;
  Scalar alpha = 1;
  Scalar beta = 0;
  /// One number per column, or null; floating dtypes only.
  const void* bias = nullptr;
};

void multiply(const MatrixProduct& product);

}  // namespace eg::cpu
