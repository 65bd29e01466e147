#pragma once

// How to think about it: C = alpha * A B + beta * C (+ bias) for matrices given by strides, so a
// transposed operand is the same memory with its strides exchanged and is never copied as a whole.
// Blocks of A and B are packed into strips and panels that a register tile reads from end to end.
// Packing absorbs the layout, so all layouts run at the same speed. Shapes with nothing to reuse
// have special paths: a single row or column (gemv.h), and tiny products.
//
// Every element of C is summed in the same order for any number of threads, so results do not
// depend on it. NaN and infinity propagate as IEEE 754 requires, for any alpha. When beta is 0, C
// is written but not read.

#include <cstdint>

namespace eg::gemm {

/// A matrix in memory; element (i, j) is at data[i * row_stride + j * column_stride].
template <class T>
struct Matrix {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Computes C = alpha * A B + beta * C, and adds `bias[j]` to every column j if `bias` is given. A
/// is m x k, B is k x n; C has column stride 1 and overlaps neither. Large products are divided
/// among the threads of parallel_for.
template <class T>
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<T> a, Matrix<T> b, T beta,
          T* c, std::int64_t row_stride_c, const T* bias = nullptr);

/// Computes gemm for `batch` triples of matrices that are a stride apart. The stride of A or B may
/// be 0, that of C may not.
template <class T>
void batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                  Matrix<T> a, std::int64_t batch_stride_a, Matrix<T> b,
                  std::int64_t batch_stride_b, T beta, T* c, std::int64_t batch_stride_c,
                  std::int64_t row_stride_c, const T* bias = nullptr);

}  // namespace eg::gemm
