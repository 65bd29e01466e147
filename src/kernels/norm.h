#pragma once

// Normalising rows: layer norm, and RMS norm, which is layer norm with the mean taken as zero. All
// arrays are of floats and lie packed, `rows` rows of `width`; weight and bias have one number per
// column, mean and reciprocal deviation one per row. A call without `mean` is an RMS norm.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// y = (x - mean) * rstd * weight + bias, and the mean and reciprocal deviation of every row.
struct RowNorm {
  static constexpr std::string_view name = "row_norm";
  std::int64_t rows;
  std::int64_t width;
  double eps;
  In x;
  OptionalIn weight;  ///< ones where there is none
  OptionalIn bias;    ///< zeros where there is none
  Out y;
  OptionalOut mean;
  Out rstd;

  void compute_on_cpu() const;
};

/// The gradient of x, from that of y.
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

/// The gradients of weight and bias. Every number is summed in the order of the rows, whatever the
/// number of threads.
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
