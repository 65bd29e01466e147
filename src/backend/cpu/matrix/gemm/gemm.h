#pragma once

// How to think about it: C = alpha * A B + beta * C (+ bias) for matrices given by strides, so a
// transposed operand is the same memory with its strides exchanged and is never copied as a whole.
// Blocks of A and B are repacked into strips and panels that a register tile reads from end to end;
// the packing takes the layout, so every layout then runs at the same speed. Shapes that leave
// nothing to reuse take their own ways: one row or one column (gemv.h), a handful of numbers.
//
// Every element of C is summed in the same order whatever the number of threads, so results do not
// depend on it. NaN and infinity come through as IEEE 754 says, whatever alpha is; when beta is 0,
// C is only written.

#include <cstdint>

namespace eg::gemm {

/// A matrix in memory; element (i, j) is at data[i * row_stride + j * column_stride].
template <class T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Computes C = alpha * A B + beta * C, plus `bias[j]` on every column j where `bias` is given; A
/// is m x k, B is k x n, and C has column stride 1 and overlaps neither. Shared by all threads of
/// parallel_for when it is large enough.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<T> a, Matrix<T> b, T beta,
          T* c, std::int64_t row_stride_c, const T* bias = nullptr);

/// Computes gemm for `batch` triples of matrices that lie a stride apart; the stride of an operand
/// may be 0, that of C may not.
template <class T>
void batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                  Matrix<T> a, std::int64_t batch_stride_a, Matrix<T> b,
                  std::int64_t batch_stride_b, T beta, T* c, std::int64_t batch_stride_c,
                  std::int64_t row_stride_c, const T* bias = nullptr);

}  // namespace eg::gemm
