#pragma once

// A vector-matrix product reads every element of the matrix once, so packing would only add work
// and the speed is limited by memory. Contiguous rows are summed a few at a time; contiguous
// columns are multiplied with the vector one after the other, so that memory is read in order: the
// prefetchers of processors follow one long stream at twice the rate of several short ones.

#include <cstdint>

#include "backend/cpu/matrix/gemm/gemm.h"

namespace eg::gemm {

/// The elements of x that are multiplied with all columns of B before the next ones, so that they
/// stay in L1 beside the stream of B.
template <class T>
inline constexpr std::int64_t kDotLength = 8192 / sizeof(T);

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
