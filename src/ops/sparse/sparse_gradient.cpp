#include "ops/sparse/sparse_gradient.h"

#include "dispatch/factories.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {

Tensor sparse_gradient_of_rows(const Tensor& rows, const Shape& table, const Tensor& index,
                               std::int64_t skip) {
  Tensor values = rows;
  // A copy, because the index may be the caller's, who may change it.
  Tensor chosen = contiguous_copy(index);
  if (skip >= 0) {
    const Tensor kept = true_positions(call<op::Ne>(chosen, Operand(Scalar(skip))));
    values = IndexSelect::call(values, 0, kept);
    chosen = IndexSelect::call(chosen, 0, kept);
  }
  return with_values(table, coo_pattern(Unsqueeze::call(chosen, 0), /*is_coalesced=*/false),
                     values);
}

Tensor sparse_gradient_of_elements(const Tensor& grad, const Shape& shape, std::int64_t dim,
                                   const Tensor& index) {
  const std::int64_t count = index.numel();
  const Tensor flat = Reshape::call(contiguous_copy(index), {count});
  // The coordinates of each element of the index; along `dim` the index takes their place.
  TensorList coordinates;
  for (std::int64_t d = 0; d < index.ndim(); ++d) {
    if (d == dim) {
      coordinates.push_back(flat);
      continue;
    }
    Dims along(index.shape().size(), 1);
    along[static_cast<std::size_t>(d)] = index.size(d);
    const Tensor numbers = Reshape::call(numbers_below(index.size(d), index.device()), along);
    const Dims all(index.shape().begin(), index.shape().end());
    coordinates.push_back(Reshape::call(Expand::call(numbers, all), {count}));
  }
  if (shape.empty()) return Sum::call(grad);
  // A single index may be without dimensions.
  if (coordinates.empty()) coordinates.push_back(flat);
  return with_values(shape, coo_pattern(Stack::call(coordinates), /*is_coalesced=*/false),
                     Reshape::call(grad, {count}));
}

}  // namespace eg
