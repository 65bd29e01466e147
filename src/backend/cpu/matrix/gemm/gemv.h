#pragma once

// A vector-matrix product reads every element of the matrix once, so packing would only add work
// and the speed is limited by memory. Contiguous rows are summed a few at a time; contiguous
// columns are multiplied with the vector a few at a time.

#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::gemm {

/// Computes y = x B for x with `k` elements that are `x_stride` apart and B of k x n; then out[j *
/// out_stride] = alpha * y[j] + beta * out[j * out_stride] + bias[j * bias_stride]. A null bias
/// counts as zero; with beta 0, `out` is not read.
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
