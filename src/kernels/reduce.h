#pragma once

// Reductions over any dimensions of a strided operand.

#include <string_view>

#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// The operation that combines the elements.
enum class Fold : std::uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kCountNonzero,
  // For floats only:
  kSumAbs,
  kSumSquares,
  kSumCenteredSquares,  ///< of x - Reduce::shifts
  kSumExp,              ///< of x - Reduce::shifts
  kMaxAbs,
  kMinAbs,
};

struct Reduction {
  Fold fold = Fold::kSum;
  /// The dtype of the results: float32, float64 or int64. Elements are converted to it.
  DType compute = DType::kFloat32;
  /// Floating-point results are divided by this, in double precision,
  double divisor = 1;
  /// and then replaced by their square root.
  bool root = false;
};

/// Folds x, of the given shape, along `dims` (sorted). Results are packed in row-major order of the
/// other dimensions.
struct Reduce {
  static constexpr std::string_view name = "reduce";
  Reduction reduction;
  Shape shape;
  Dims dims;
  In x;
  Strides x_strides;
  /// One number per result, in the dtype `compute`, for the folds that use it.
  OptionalIn shifts;
  Out y;

  void compute_on_cpu() const;
};

/// Finds the first largest (or smallest) element along `dim` and its index (int64); the first NaN
/// beats all other values. Results are packed in row-major order of the other dimensions; `values`
/// has the dtype of x if that is floating, else int64.
struct ArgReduce {
  static constexpr std::string_view name = "arg_reduce";
  bool largest;
  Shape shape;
  std::int64_t dim;
  In x;
  Strides x_strides;
  Out values;
  Out indices;

  void compute_on_cpu() const;
};

using ReduceKernels = TypeList<Reduce, ArgReduce>;

}  // namespace eg::kernel
