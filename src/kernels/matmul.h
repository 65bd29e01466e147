#pragma once

// Batched matrix products, in any dtype except bool.
//
// The batch may have any number of dimensions and any strides, 0 where an operand is broadcast, so
// operands are never copied just to change their layout.

#include <string_view>
#include <utility>

#include "base/scalar.h"
#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// The memory layout of a batch of matrices; strides count elements.
struct MatrixLayout {
  Strides batch_strides;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// Returns the layout with rows and columns exchanged.
inline MatrixLayout transposed(MatrixLayout layout) {
  std::swap(layout.row_stride, layout.column_stride);
  return layout;
}

/// The sizes of a batch of products of m x k by k x n matrices.
struct ProductSizes {
  Shape batch;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// C = alpha * A B + beta * C + bias for every matrix of a batch. Integers wrap around.
struct MatrixProduct {
  static constexpr std::string_view name = "matrix_product";
  ProductSizes sizes;
  In a;
  MatrixLayout a_layout;
  In b;
  MatrixLayout b_layout;
  /// Also read unless beta is 0.
  Out c;
  /// The column stride is 1, and no two elements overlap.
  MatrixLayout c_layout;
  Scalar alpha = 1;
  Scalar beta = 0;
  /// Optional, one number per column; floating dtypes only.
  OptionalIn bias = {};

  void compute_on_cpu() const;
};

using MatmulKernels = TypeList<MatrixProduct>;

}  // namespace eg::kernel
