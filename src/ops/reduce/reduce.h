#pragma once

// What all reductions share: which dimensions, which shape, the fold itself, and the way back.
//
// A reduction and the spreading of its result are each other's gradient: Sum folds dimensions away,
// `unreduce` shows the folded tensor again in the shape it came from, as a view that repeats along
// the folded dimensions. The gradients of all other reductions are written with the two.

#include <optional>
#include <string_view>

#include "kernels/reduce.h"
#include "tensor/tensor.h"

namespace eg {

/// The folded dimensions of a shape.
struct ReducedDims {
  Dims dims;  ///< sorted, from the front
  bool keepdim = false;

  /// The shape of the result: the folded dimensions have size one, or are gone.
  Shape result_shape(const Shape& shape) const;
  /// How many elements go into one result.
  std::int64_t count(const Shape& shape) const;
};

/// Interprets a `dim` argument; none, or an empty list, means all dimensions.
ReducedDims reduced_dims(const std::optional<Dims>& dim, bool keepdim, std::int64_t ndim,
                         std::string_view op);

/// Runs a fold outside of autograd; the result has the dtype reduction.compute. `shifts` is what
/// Fold says, if anything.
Tensor run_reduction(const kernel::Reduction& reduction, const Tensor& input,
                     const ReducedDims& reduced, const Tensor& shifts = {});

/// Shows a result in the shape it was folded from: a recorded view.
Tensor unreduce(const Tensor& result, const ReducedDims& reduced, const Shape& shape);

/// Throws unless every result has an element to start from.
void check_not_empty(const Tensor& input, const ReducedDims& reduced, bool has_dim,
                     std::string_view op);

}  // namespace eg
