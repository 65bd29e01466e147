#pragma once

// Normalization of rows: layer norm, and RMS norm, which is layer norm with the mean taken as zero.
// All arrays are packed and hold floats, `rows` rows of `width`; weight and bias have one number
// per column, the mean and the reciprocal standard deviation (rstd) one per row. A call without
// `mean` is an RMS norm.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// Computes y = (x - mean) * rstd * weight + bias, and the mean and rstd of every row.
struct RowNorm {
  static constexpr std::string_view name = "row_norm";
  std::int64_t rows;
  std::int64_t width;
  double eps;
  In x;
  OptionalIn weight;  ///< ones when absent
  OptionalIn bias;    ///< zeros when absent
  Out y;
  OptionalOut mean;
  Out rstd;

  void compute_on_cpu() const;
};

/// Computes the gradient of x from the gradient of y.
struct RowNormBackwardInput {
  static constexpr std::string_view name = "row_norm_backward_input";
  std::int64_t rows;
  std::int64_t width;
  In x;
  OptionalIn weight;
  OptionalIn mean;
  In rstd;
  In grad_y;
  Out grad_x;

  void compute_on_cpu() const;
};

/// Computes the gradients of weight and bias. Rows are summed in order, so the results do not
/// depend on the number of threads.
struct RowNormBackwardParameters {
  static constexpr std::string_view name = "row_norm_backward_parameters";
  std::int64_t rows;
  std::int64_t width;
  In x;
  OptionalIn mean;
  In rstd;
  In grad_y;
  OptionalOut grad_weight;
  OptionalOut grad_bias;

  void compute_on_cpu() const;
};

using NormKernels = TypeList<RowNorm, RowNormBackwardInput, RowNormBackwardParameters>;

}  // namespace eg::kernel
