#pragma once

// A vector-matrix product reads every element of the matrix once, so packing would only add work
// and the speed is limited by memory. It is read in order, because the prefetchers of processors
// follow one stream at twice the rate of several short ones: contiguous columns are multiplied with
// the vector, and contiguous rows are added, one after the other. Rows of a matrix that is in a
// cache, and columns of many elements, are taken several at once: that saves loads.

#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::gemm {

/// A vector of more bytes does not stay in L1 beside what is read meanwhile. It is multiplied with
/// four columns at a time, so that it is loaded less often.
inline constexpr std::int64_t kLongVector = 12 * 1024;

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
