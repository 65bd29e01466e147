#pragma once

// Shared by the ops that choose elements along a dimension, by their order or while scanning: sort,
// topk, median, cummax. They differ in the indices they find. The values, results without the
// dimension, and the gradient, which goes to the chosen elements, follow from the indices.

#include "dispatch/factories.h"
#include "dispatch/record.h"
#include "ops/nn/softmax_rows.h"
#include "tensor/tensor.h"

namespace eg {

/// What the gradient of chosen elements needs.
struct ChosenAttrs {
  Shape input_shape;
  std::int64_t dim;
  /// The results lack dim, along which one element was chosen.
  bool is_squeezed = false;
};

/// A part of the sorted order of the rows along dim.
struct OrderedPart {
  std::int64_t dim;
  bool descending;
  std::int64_t first;
  std::int64_t count;
};

/// The indices of a part of the sorted order; NaN is larger than every number.
Tensor ordered_indices(const Tensor& input, const OrderedPart& part);

/// Calls find(rows, elements, indices), which writes `count` indices for each row along dim.
template <class Find>
Tensor found_indices(Find&& find, const Tensor& input, std::int64_t dim, std::int64_t count) {
  const Tensor x = packed(input);
  Shape shape = x.shape();
  if (!shape.empty()) shape[static_cast<std::size_t>(dim)] = count;
  const Tensor indices = Tensor::empty(shape, DType::kInt64, x.device());
  if (indices.numel() > 0) find(rows_along(x, dim), x.memory(), indices.memory());
  return indices;
}

/// The elements at the indices along dim, not recorded.
Tensor values_at(const Tensor& input, std::int64_t dim, const Tensor& indices);

/// The size of dim; 1 for a 0-dim tensor.
std::int64_t row_size(const Tensor& t, std::int64_t dim);

/// A packed tensor without the dimension dim, which has size one.
Tensor without_dim(const Tensor& t, std::int64_t dim);

/// The gradient of the input of an op that chose elements.
GradList chosen_gradient(const Tensor& grad, const Tensor& indices, const ChosenAttrs& attrs);

/// [values, indices] of the elements that indices choose along dim, recorded as `Op`.
template <class Op>
TensorList choose(const Tensor& input, std::int64_t dim, Tensor indices, bool is_squeezed = false) {
  Tensor values = values_at(input, dim, indices);
  is_squeezed = is_squeezed && input.ndim() > 0;
  if (is_squeezed) {
    indices = without_dim(indices, dim);
    values = without_dim(values, dim);
  }
  TensorList outputs{values, indices};
  record<Op>(outputs, std::span(&input, 1), ChosenAttrs{input.shape(), dim, is_squeezed},
             {{indices}});
  return outputs;
}

}  // namespace eg
