#include "ops/index/index_args.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "ops/create/copy.h"

namespace eg {

Tensor to_index(const Tensor& index, std::string_view op) {
  check(index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32, ErrorCode::kDtypeMismatch,
        op, "Expected dtype int64 for index (or int32), got ", index.dtype(), '.');
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
  run(kernel::FindOutOfRange{index.numel(), size, index.memory(), kernel::host_number(position),
                             kernel::host_number(bad)});
  return position < 0 ? std::nullopt : std::optional(bad);
}

Tensor checked_index(const Tensor& index, std::int64_t size, std::int64_t dim,
                     std::string_view op) {
  Tensor values = to_index(index, op);
  if (const auto bad = find_out_of_range(values, size)) {
    fail(ErrorCode::kIndexOutOfRange, '[', op, "] index out of range in self: index ", *bad,
         " is out of bounds for dimension ", dim, " with size ", size, '.');
  }
  return values;
}

Tensor checked_index_vector(const Tensor& index, std::int64_t size, std::int64_t dim,
                            std::string_view op) {
  check(index.ndim() <= 1, ErrorCode::kShapeMismatch, op,
        "Index is supposed to be a vector, but got dim: ", index.ndim(), '.');
  return checked_index(index, size, dim, op);
}

Tensor element_for(const Tensor& t, const Operand& number) {
  const Tensor element = as_element(number.tensor(), t.dtype());
  return ToDevice::call(ToDType::call(element, t.dtype()), t.device());
}

Tensor true_places(const Tensor& mask) {
  const Tensor row = packed(mask);
  std::int64_t count = 0;
  run(kernel::CountTrue{row.numel(), row.memory(), kernel::host_number(count)});
  Tensor places = Tensor::empty({count}, DType::kInt64, row.device());
  run(kernel::FindTrue{row.numel(), row.memory(), places.memory()});
  return places;
}

Shape at_least_1d(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

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
