#pragma once

// Normalising rows: layer norm, and RMS norm, which is layer norm with the mean taken as zero. All
// arrays lie packed, row after row; weight and bias have one number per column and may be null.

#include <cstdint>

namespace eg::cpu {

/// What forward and backward share. A null `mean` means RMS norm.
template <class T>
struct RowNorm {
  std::int64_t rows;
  std::int64_t width;
  const T* x;
  const T* weight;
  T* mean;
  T* rstd;
};

/// Computes out = (x - mean) * rstd * weight + bias, and the mean and reciprocal deviation per row.
template <class T>
void norm_forward(const RowNorm<T>& norm, double eps, const T* bias, T* out);

/// Computes the gradient of x from the gradient `g` of the output.
template <class T>
void norm_backward_input(const RowNorm<T>& norm, const T* g, T* dx);

/// Computes the gradients of weight and bias, each where it is not null. Every number is summed in
/// the order of the rows, whatever the number of threads.
template <class T>
void norm_backward_parameters(const RowNorm<T>& norm, const T* g, T* dweight, T* dbias);

}  // namespace eg::cpu
