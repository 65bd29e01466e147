#include "ops/index/tensor_index.h"

#include <algorithm>
#include <vector>

#include "base/warning.h"
#include "dispatch/factories.h"
#include "dispatch/overlap.h"
#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/index/index_args.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using Op = std::string_view;

// One index: the dimensions it indexes, merged, and the rows it selects there.
struct Selection {
  std::size_t dim;
  std::size_t span;
  std::int64_t size;
  Tensor rows;
};

Selection select_true(const Shape& shape, const Tensor& mask, std::size_t dim, std::size_t position,
                      Op op) {
  for (std::size_t d = 0; d < mask.shape().size(); ++d) {
    check(mask.shape()[d] == shape[dim + d], ErrorCode::kShapeMismatch, op, "a mask of shape ",
          mask.shape(), " cannot index a tensor of shape ", shape, ": dimension ", dim + d,
          " differs from index ", position + d, '.');
  }
  return {dim, mask.shape().size(), mask.numel(), on_host(true_positions(mask))};
}

Selection select_at(const Shape& shape, const Tensor& index, std::size_t dim, Op op) {
  const std::int64_t size = shape[dim];
  const Tensor rows = Tensor::empty(index.shape(), DType::kInt64);
  copy_data(rows, index);
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    std::int64_t& row = rows.data_as<std::int64_t>()[i];
    check(-size <= row && row < size, ErrorCode::kIndexOutOfRange, op, "index ", row,
          " is out of range for dimension ", dim, " of size ", size, '.');
    if (row < 0) row += size;
  }
  return {dim, 1, size, rows};
}

std::vector<Selection> read_indices(const Shape& shape, const TensorList& indices, const Dims& dims,
                                    Op op) {
  check(!indices.empty() && indices.size() == dims.size(), ErrorCode::kInvalidArgument, op,
        "expected at least one index, each with its dimension.");
  std::vector<Selection> selections;
  std::size_t end = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const DType dtype = indices[i].dtype();
    check(is_integral(dtype) && !is_stored(dtype), ErrorCode::kDtypeMismatch, op,
          "an index tensor must be int64, int32, bool or uint8, got ", dtype, '.');
    const bool is_mask = dtype == DType::kBool || dtype == DType::kUInt8;
    const std::size_t span = is_mask ? indices[i].shape().size() : 1;
    check(dims[i] >= static_cast<std::int64_t>(end), ErrorCode::kInvalidArgument, op,
          "the dimensions of the indices must ascend, got ", dims, '.');
    check(dims[i] + static_cast<std::int64_t>(span) <= static_cast<std::int64_t>(shape.size()),
          ErrorCode::kIndexOutOfRange, op, "too many indices for a tensor of ", shape.size(),
          " dimensions.");
    const auto dim = static_cast<std::size_t>(dims[i]);
    end = dim + span;
    if (!is_mask) {
      selections.push_back(select_at(shape, indices[i], dim, op));
      continue;
    }
    if (dtype == DType::kUInt8) {
      static WarnOnce once;
      once.warn("[", op,
                "] a uint8 index is taken as a mask, which is deprecated. Use a bool tensor, as by "
                "mask.to('bool'), or int64 for positions.");
    }
    const Tensor mask =
        dtype == DType::kBool ? indices[i] : eg::call<op::Ne>(detach(indices[i]), 0);
    selections.push_back(select_true(shape, mask, dim, i, op));
  }
  return selections;
}

bool broadcast_together(const Shape& a, const Shape& b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - i];
    const std::int64_t y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

IndexedDims place_dims(const std::vector<Selection>& selections, std::size_t ndim, Op op) {
  IndexedDims where;
  bool side_by_side = true;
  std::vector<bool> indexed(ndim);
  for (const Selection& selection : selections) {
    const std::size_t next = selections[0].dim + where.count;
    side_by_side = side_by_side && selection.dim == next;
    for (std::size_t d = 0; d < selection.span; ++d) {
      indexed[selection.dim + d] = true;
      where.order.push_back(static_cast<std::int64_t>(selection.dim + d));
    }
    where.count += selection.span;
    const Shape& shape = selection.rows.shape();
    check(broadcast_together(where.index_shape, shape), ErrorCode::kShapeMismatch, op,
          "index tensors of shapes ", where.index_shape, " and ", shape,
          " cannot be broadcast together.");
    where.index_shape = broadcast_shapes(where.index_shape, shape, op);
  }
  where.first = side_by_side ? selections[0].dim : 0;
  std::size_t before = 0;
  for (std::size_t d = 0; d < ndim; ++d) {
    if (indexed[d]) continue;
    const auto dim = static_cast<std::int64_t>(d);
    if (d < where.first)
      where.order.insert(before++, dim);
    else
      where.order.push_back(dim);
  }
  return where;
}

// The row that each element of the broadcast indices selects in the merged dimensions.
Tensor merge_rows(const std::vector<Selection>& selections, const Shape& index_shape) {
  if (selections.size() == 1) return selections[0].rows;
  const Tensor rows = full(index_shape, 0, DType::kInt64);
  for (const Selection& selection : selections) {
    const Tensor more = packed(Expand::call(selection.rows, index_shape));
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
      std::int64_t& row = rows.data_as<std::int64_t>()[i];
      row = row * selection.size + more.data_as<std::int64_t>()[i];
    }
  }
  return rows;
}

Tensor in_order(const Tensor& t, const Dims& order) {
  Shape shape;
  Strides strides;
  for (const std::int64_t d : order) {
    shape.push_back(t.shape()[static_cast<std::size_t>(d)]);
    strides.push_back(t.strides()[static_cast<std::size_t>(d)]);
  }
  return t.alias(shape, strides, t.offset());
}

kernel::IndexedRows rows_of(const Shape& shape, const IndexedDims& where, const Tensor& rows) {
  const std::int64_t* first = shape.begin() + where.first;
  const std::int64_t* last = first + where.count;
  return {numel({shape.begin(), first}), numel({first, last}), numel({last, shape.end()}),
          rows.numel(), rows.memory()};
}

Shape result_shape(const Shape& input_shape, const IndexedDims& where) {
  Shape shape;
  for (const std::int64_t d : where.order)
    shape.push_back(input_shape[static_cast<std::size_t>(d)]);
  const auto first = shape.begin() + where.first;
  Shape result(shape.begin(), first);
  for (const std::int64_t size : where.index_shape) result.push_back(size);
  for (auto size = first + where.count; size != shape.end(); ++size) result.push_back(*size);
  return result;
}

// Writes `values` to `target`, or adds them; not recorded. `values` are contiguous and have the
// shape of the indexed elements.
void write(const Tensor& target, const IndexedDims& where, const Tensor& rows, const Tensor& values,
           bool accumulate) {
  const Tensor view = in_order(target, where.order);
  const Tensor block = packed(view);
  const kernel::IndexedRows selected = rows_of(view.shape(), where, rows);
  if (accumulate)
    run(kernel::AddRows{selected, values.memory(), block.memory()});
  else
    run(kernel::PutRows{selected, values.memory(), block.memory()});
  if (!block.is_same(view)) copy_data(view, block);
}

Tensor take(const Tensor& input, const IndexedDims& where, const Tensor& rows) {
  const Tensor source = packed(in_order(input, where.order));
  const Tensor result =
      Tensor::empty(result_shape(input.shape(), where), input.dtype(), input.device());
  run(kernel::TakeRows{rows_of(source.shape(), where, rows), source.memory(), result.memory()});
  return record<Index>(result, {input}, {input.shape(), where}, {{rows}});
}

Tensor put(const Tensor& input, const IndexPutInPlace::Attrs& attrs, const Tensor& values) {
  const std::array inputs{input, values};
  check_no_overlap(input, values);
  const TensorList tangents = whole_tangents(inputs);
  Tensor tangent_of_result;
  {
    // As in record_linear().
    const NoDualLevelGuard guard;
    if (!tangents.empty()) tangent_of_result = put(Clone::call(tangents[0]), attrs, tangents[1]);
    change_in_place<IndexPutInPlace>(input, inputs, attrs, [&] {
      const bool is_own = values.is_contiguous() && !values.shares_storage_with(input);
      write(input, attrs.where, attrs.rows, is_own ? values : contiguous_copy(values),
            attrs.accumulate);
    });
  }
  set_tangent(input, tangent_of_result);
  return input;
}

// The gradient of index: the gradients of the selected elements, added to a tensor of zeros.
struct IndexGradient {
  static constexpr op::Doc doc{"index_backward", "The gradient of index."};
  struct Attrs {
    IndexedDims where;
  };
  static constexpr std::array<std::string_view, 1> saved_names{"indices"};
  static Tensor call(const Tensor& grad, const Shape& input_shape, const IndexedDims& where,
                     const Tensor& rows) {
    const Tensor result = full(input_shape, 0, grad.dtype(), grad.device());
    write(result, where, rows, packed(grad), true);
    return record<IndexGradient>(result, {grad}, {where}, {{rows}});
  }
  static GradList backward(const Backward<IndexGradient>& b) {
    return {take(b.grad(), b.attrs().where, b.saved(0))};
  }
};

}  // namespace

Tensor Index::call(const Tensor& input, const TensorList& indices, const Dims& dims) {
  const std::vector<Selection> selections = read_indices(input.shape(), indices, dims, doc.name);
  const IndexedDims where = place_dims(selections, input.shape().size(), doc.name);
  return take(input, where, moved(merge_rows(selections, where.index_shape), input.device()));
}

GradList Index::backward(const Backward<Index>& b) {
  return {IndexGradient::call(b.grad(), b.attrs().input_shape, b.attrs().where, b.saved(0))};
}

Tensor IndexPutInPlace::call(const Tensor& input, const TensorList& indices, const Operand& values,
                             bool accumulate, const std::optional<Dims>& dims) {
  Dims first_dims = dims.value_or(Dims{});
  for (std::size_t dim = 0; !dims.has_value() && first_dims.size() < indices.size();) {
    first_dims.push_back(static_cast<std::int64_t>(dim));
    const Tensor& index = indices[first_dims.size() - 1];
    const bool is_mask = index.dtype() == DType::kBool || index.dtype() == DType::kUInt8;
    dim += is_mask ? index.shape().size() : 1;
  }
  const std::vector<Selection> selections =
      read_indices(input.shape(), indices, first_dims, doc.name);
  const IndexedDims where = place_dims(selections, input.shape().size(), doc.name);
  const Tensor given =
      values.tensor().is_wrapped_number() ? element_for(input, values) : values.tensor();
  check(given.dtype() == input.dtype(), ErrorCode::kDtypeMismatch, doc.name,
        "input and values must have the same dtype, got ", input.dtype(), " and ", given.dtype(),
        '.');
  const Shape shape = result_shape(input.shape(), where);
  check(is_expandable_to(given.shape(), shape), ErrorCode::kShapeMismatch, doc.name,
        "values of shape ", given.shape(),
        " cannot be broadcast to the indexed elements, of shape ", shape, '.');
  const Tensor rows = moved(merge_rows(selections, where.index_shape), input.device());
  return put(input, {where, rows, accumulate}, Expand::call(given, shape));
}

GradList IndexPutInPlace::backward(const Backward<IndexPutInPlace>& b) {
  const auto& [where, rows, accumulate] = b.attrs();
  const Tensor& grad = b.grad();
  GradList grads(2);
  if (b.needs(0) && accumulate) grads[0] = grad;
  if (b.needs(0) && !accumulate) {
    const Tensor zero = full({}, 0, grad.dtype(), grad.device());
    grads[0] =
        put(Clone::call(grad), b.attrs(), Expand::call(zero, result_shape(grad.shape(), where)));
  }
  if (b.needs(1)) grads[1] = take(grad, where, rows);
  return grads;
}

Tensor IndexPut::call(const Tensor& input, const TensorList& indices, const Operand& values,
                      bool accumulate) {
  return IndexPutInPlace::call(Clone::call(input), indices, values, accumulate);
}

}  // namespace eg
