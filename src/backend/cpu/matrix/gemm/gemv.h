#pragma once

// A vector times a matrix reads every number of the matrix once, so packing would only add work and
// the speed is that of memory. Rows that are contiguous are added up, a few at a time; columns that
// are contiguous are multiplied with the vector, a few at a time.

#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::gemm {

/// Computes y = x B for x of `k` numbers that lie `x_stride` apart and B of k x n; then
/// out[j * out_stride] = alpha * y[j] + beta * out[j * out_stride] + bias[j * bias_stride], where a
/// null bias counts as zero and beta of 0 means that `out` is not read.
template <class T>
struct VectorProduct {
  std::int64_t n;
  std::int64_t k;
  T alpha;
  const T* x;
  std::int64_t x_stride;
  Matrix<T> b;
  T beta;
  T* out;
  std::int64_t out_stride;
  const T* bias;
  std::int64_t bias_stride;
};

template <class T>
void multiply(const VectorProduct<T>& product);

}  // namespace eg::gemm
