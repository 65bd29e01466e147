// compile: compact

#include "ops/index/index_args.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "dispatch/transfer.h"
#include "ops/create/copy.h"
#include "ops/shape/view.h"

namespace eg {

Tensor to_index(const Tensor& index, std::string_view op) {
  check(index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32, ErrorCode::kDtypeMismatch,
        op, "index must be int64 or int32, got ", index.dtype(), '.');
  if (index.dtype() == DType::kInt64 && index.is_contiguous()) return index;
  Tensor converted = Tensor::empty(index.shape(), DType::kInt64, index.device());
  copy_data(converted, index);
  return converted;
}

Tensor index_tensor(std::span<const std::int64_t> values, Device device) {
  const Tensor index = Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::kInt64);
  std::copy(values.begin(), values.end(), index.data_as<std::int64_t>());
  return moved(index, device);
}

std::span<const std::int64_t> index_values(const Tensor& index) {
  return {index.data_as<std::int64_t>(), static_cast<std::size_t>(index.numel())};
}

std::optional<std::int64_t> find_out_of_range(const Tensor& index, std::int64_t size) {
  std::int64_t position = -1;
  std::int64_t bad = 0;
  run(kernel::FindOutOfRange{{},
                             index.numel(),
                             0,
                             size,
                             index.memory(),
                             kernel::host_number(position),
                             kernel::host_number(bad),
                             {}});
  return position < 0 ? std::nullopt : std::optional(bad);
}

Tensor checked_index(const Tensor& index, std::int64_t size, std::int64_t dim,
                     std::string_view op) {
  const Tensor values = to_index(index, op);
  const Tensor checked = values.device().is_cpu()
                             ? Tensor()
                             : Tensor::empty(values.shape(), DType::kInt64, values.device());
  run(kernel::FindOutOfRange{
      op, values.numel(), dim, size, values.memory(), {}, {}, optional_memory(checked)});
  return checked.defined() ? checked : values;
}

Tensor checked_index_vector(const Tensor& index, std::int64_t size, std::int64_t dim,
                            std::string_view op) {
  check(index.ndim() <= 1, ErrorCode::kShapeMismatch, op,
        "index must be a vector or a 0-dim tensor, got ", index.ndim(), " dimensions.");
  return checked_index(index, size, dim, op);
}

Tensor element_for(const Tensor& t, const Operand& number) {
  const Tensor element = as_element(number.tensor(), t.dtype());
  return ToDevice::call(ToDType::call(element, t.dtype()), t.device());
}

Tensor true_positions(const Tensor& mask) {
  const Tensor row = packed(mask);
  std::int64_t count = 0;
  run(kernel::CountTrue{row.numel(), row.memory(), kernel::host_number(count)});
  Tensor positions = Tensor::empty({count}, DType::kInt64, row.device());
  run(kernel::FindTrue{row.numel(), row.memory(), positions.memory()});
  return positions;
}

Shape at_least_1d(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

std::int64_t size_along(const Tensor& t, std::int64_t dim) {
  return t.ndim() == 0 ? 1 : t.size(dim);
}

Tensor index_fitting(const Tensor& index, const Tensor& input) {
  if (index.numel() != 0) return index;
  const Shape none(at_least_1d(input.shape()).size(), 0);
  return Tensor::empty(none, index.dtype(), index.device());
}

Tensor fit_source(const Tensor& input, std::int64_t dim, const Tensor& index, const Tensor& src,
                  std::string_view op) {
  check(input.dtype() == src.dtype(), ErrorCode::kDtypeMismatch, op,
        "input and src must have the same dtype, got ", input.dtype(), " and ", src.dtype(), '.');
  const Shape sizes = at_least_1d(index.shape());
  const Shape target = at_least_1d(input.shape());
  const Shape available = at_least_1d(src.shape());
  if (index.numel() == 0 && sizes.size() != available.size())
    return Tensor::empty(index.shape(), src.dtype(), src.device());
  check(sizes.size() == target.size() && sizes.size() == available.size(),
        ErrorCode::kShapeMismatch, op,
        "index, input and src must agree in the number of dimensions, got shapes ", index.shape(),
        ", ", input.shape(), " and ", src.shape(), '.');
  Tensor part = src;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool fits =
        (static_cast<std::int64_t>(d) == dim || sizes[d] <= target[d]) && sizes[d] <= available[d];
    check(fits, ErrorCode::kShapeMismatch, op, "index of shape ", index.shape(),
          " must not exceed src of shape ", src.shape(), ", nor, except in dimension ", dim,
          ", input of shape ", input.shape(), '.');
    if (sizes[d] < available[d])
      part = Slice::call(part, static_cast<std::int64_t>(d), 0, sizes[d]);
  }
  return part;
}

Tensor check_sources(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& source, std::string_view op) {
  check(input.dtype() == source.dtype(), ErrorCode::kDtypeMismatch, op,
        "input and source must have the same dtype, got ", input.dtype(), " and ", source.dtype(),
        '.');
  Tensor picks = checked_index_vector(index, size_along(input, dim), dim, op);
  check(picks.numel() == size_along(source, dim), ErrorCode::kShapeMismatch, op,
        "source must have a slice for each of the ", picks.numel(), " indices, got ",
        size_along(source, dim), '.');
  Shape expected = at_least_1d(input.shape());
  expected[static_cast<std::size_t>(dim)] = picks.numel();
  check(at_least_1d(source.shape()) == expected, ErrorCode::kShapeMismatch, op,
        "source must have shape ", expected, " for input of shape ", input.shape(), ", got ",
        source.shape(), '.');
  return picks;
}

kernel::IndexedRows rows_along(const Shape& shape, std::int64_t dim, const Tensor& index) {
  const Shape sizes = at_least_1d(shape);
  const std::int64_t* middle = sizes.begin() + dim;
  return {numel({sizes.begin(), middle}), *middle, numel({middle + 1, sizes.end()}), index.numel(),
          index.memory()};
}

kernel::IndexedElements elements_along(const Strides& strides, std::int64_t dim,
                                       const Tensor& index) {
  return {at_least_1d(index.shape()), dim, at_least_1d(strides), index.memory()};
}

}  // namespace eg
