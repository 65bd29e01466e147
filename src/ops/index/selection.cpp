// compile: compact

#include "ops/index/selection.h"

#include "kernels/order.h"
#include "ops/index/index.h"
#include "ops/shape/view.h"

namespace eg {

Tensor ordered_indices(const Tensor& input, const OrderedPart& part) {
  const auto find = [&](const kernel::Rows& rows, MemoryView x, MemoryView indices) {
    run(kernel::OrderRows{rows, part.descending, part.first, part.count, x, indices});
  };
  return found_indices(find, input, part.dim, part.count);
}

Tensor values_at(const Tensor& input, std::int64_t dim, const Tensor& indices) {
  return Gather::call(detach(input), dim, indices);
}

std::int64_t row_size(const Tensor& t, std::int64_t dim) { return t.ndim() == 0 ? 1 : t.size(dim); }

Tensor without_dim(const Tensor& t, std::int64_t dim) {
  Shape shape = t.shape();
  shape.erase(static_cast<std::size_t>(dim));
  return t.alias(shape, contiguous_strides(shape), t.offset());
}

// The indices have no gradient. The gradient of the values is undefined if only they were used.
GradList chosen_gradient(const Tensor& grad, const Tensor& indices, const ChosenAttrs& attrs) {
  if (!grad.defined()) return GradList(1);
  const auto in_place = [&](const Tensor& t) {
    return attrs.is_squeezed ? Unsqueeze::call(t, attrs.dim) : t;
  };
  const Tensor zeros = full(attrs.input_shape, 0, grad.dtype(), grad.device());
  return {ScatterAdd::call(zeros, attrs.dim, in_place(indices), in_place(grad))};
}

}  // namespace eg
