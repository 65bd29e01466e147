#pragma once

// Matrix products over a batch, in any dtype but bool.
//
// The batch may have any number of dimensions and any strides, 0 where an operand repeats: nothing
// is copied for the sake of a layout.

#include <string_view>
#include <utility>

#include "base/scalar.h"
#include "base/shape.h"
#include "kernels/kernel.h"

namespace eg::kernel {

/// How matrices lie in memory; strides count elements.
struct MatrixLayout {
  Strides batch_strides;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// The same matrices with rows and columns exchanged.
inline MatrixLayout transposed(MatrixLayout layout) {
  std::swap(layout.row_stride, layout.column_stride);
  return layout;
}

/// m x k matrices times k x n ones, for every position of a batch.
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
  /// Has column stride 1 and repeats nothing.
  MatrixLayout c_layout;
  Scalar alpha = 1;
  Scalar beta = 0;
  /// One number per column, if there is one; floating dtypes only.
  OptionalIn bias = {};

  void compute_on_cpu() const;
};

using MatmulKernels = TypeList<MatrixProduct>;

}  // namespace eg::kernel
