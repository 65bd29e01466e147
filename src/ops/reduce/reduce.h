#pragma once

// What all reductions share: the reduced dimensions, the shape of the result, the fold, and the
// expansion of a result to the original shape.
//
// Reducing and expanding are each other's gradient: Sum removes dimensions, and `unreduce` is a
// view of the result in the original shape that repeats it along the reduced dimensions. The
// gradients of all other reductions are written with these two.

#include <optional>
#include <string_view>

#include "kernels/reduce.h"
#include "tensor/tensor.h"

namespace eg {

/// The reduced dimensions of a shape.
struct ReducedDims {
  Dims dims;  ///< sorted and not negative
  bool keepdim = false;

  /// The shape of the result: with keepdim the reduced dimensions have size one, else it lacks
  /// them.
  Shape result_shape(const Shape& shape) const;
  /// The number of elements that are reduced to one result.
  std::int64_t count(const Shape& shape) const;
};

/// Interprets a `dim` argument; none, or an empty list, means all dimensions.
ReducedDims reduced_dims(const std::optional<Dims>& dim, bool keepdim, std::int64_t ndim,
                         std::string_view op);

/// Runs a reduction without recording; the result has the dtype reduction.compute. `shifts` holds,
/// for each result, the number that some folds subtract from the elements (see kernel::Fold).
Tensor run_reduction(const kernel::Reduction& reduction, const Tensor& input,
                     const ReducedDims& reduced, const Tensor& shifts = {});

/// Expands a result to the shape it was reduced from: a recorded view.
Tensor unreduce(const Tensor& result, const ReducedDims& reduced, const Shape& shape);

/// Throws unless every result is reduced from at least one element.
void check_not_empty(const Tensor& input, const ReducedDims& reduced, bool has_dim,
                     std::string_view op);

}  // namespace eg
