#include "ops/index/index_composite.h"

#include <algorithm>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

Tensor flat(const Tensor& t) { return Reshape::call(t, {t.numel()}); }

// Repeats every element along a dimension `count` times, `total` in all, by expanding an added
// dimension and merging it.
Tensor repeat_each(const Tensor& input, std::int64_t dim, std::int64_t count, std::int64_t total) {
  Shape spread = input.shape();
  Shape joined = spread;
  joined[static_cast<std::size_t>(dim)] = total;
  spread.insert(static_cast<std::size_t>(dim) + 1, count);
  return Reshape::call(Clone::call(Expand::call(Unsqueeze::call(input, dim + 1), spread)), joined);
}

}  // namespace

Tensor TakeAlongDim::call(const Tensor& input, const Tensor& indices,
                          std::optional<std::int64_t> dim) {
  if (!dim.has_value()) return Gather::call(flat(input), 0, flat(indices));
  check(input.ndim() == indices.ndim(), ErrorCode::kShapeMismatch, doc.name,
        "input and indices must have the same number of dimensions, got ", input.ndim(), " and ",
        indices.ndim(), '.');
  const std::int64_t d = wrap_dim(*dim, input.ndim(), doc.name);
  if (input.ndim() == 0) return Gather::call(input, d, indices);
  // Along dim the sizes are independent; all others broadcast.
  const auto k = static_cast<std::size_t>(d);
  Shape input_shape = input.shape();
  Shape index_shape = indices.shape();
  std::swap(input_shape[k], index_shape[k]);
  index_shape = broadcast_shapes(index_shape, input.shape(), doc.name);
  input_shape = broadcast_shapes(input_shape, indices.shape(), doc.name);
  return Gather::call(Expand::call(input, index_shape), d, Expand::call(indices, input_shape));
}

Tensor Take::call(const Tensor& input, const Tensor& index) {
  const std::int64_t count = input.numel();
  check(count > 0 || index.numel() == 0, ErrorCode::kIndexOutOfRange, doc.name,
        "an empty tensor has no elements to take.");
  const Tensor given = on_host(to_index(index, doc.name));
  const Tensor positions = index_tensor(index_values(given), {});
  auto* const first = positions.data_as<std::int64_t>();
  for (std::int64_t& position : std::span(first, first + positions.numel())) {
    check(-count <= position && position < count, ErrorCode::kIndexOutOfRange, doc.name, "index ",
          position, " is out of range for a tensor of ", count, " elements.");
    if (position < 0) position += count;
  }
  return Reshape::call(IndexSelect::call(flat(input), 0, moved(positions, input.device())),
                       index.shape());
}

Tensor MaskedSelect::call(const Tensor& input, const Tensor& mask) {
  check(mask.dtype() == DType::kBool, ErrorCode::kDtypeMismatch, doc.name,
        "mask must be bool, got ", mask.dtype(), '.');
  const Shape shape = broadcast_shapes(input.shape(), mask.shape(), doc.name);
  const Tensor positions = true_positions(Expand::call(mask, shape));
  return IndexSelect::call(flat(input.shape() == shape ? input : Expand::call(input, shape)), 0,
                           positions);
}

Tensor MaskedScatter::call(const Tensor& input, const Tensor& mask, const Tensor& source) {
  check(mask.dtype() == DType::kBool, ErrorCode::kDtypeMismatch, doc.name,
        "mask must be bool, got ", mask.dtype(), '.');
  const Shape shape = broadcast_shapes(input.shape(), mask.shape(), doc.name);
  const Tensor positions = true_positions(Expand::call(mask, shape));
  check(positions.numel() <= source.numel(), ErrorCode::kShapeMismatch, doc.name, "mask selects ",
        positions.numel(), " elements, but source has ", source.numel(), '.');
  const Tensor values = Narrow::call(flat(source), 0, 0, positions.numel());
  return Reshape::call(IndexCopy::call(flat(Expand::call(input, shape)), 0, positions, values),
                       shape);
}

Tensor Nonzero::call(const Tensor& input) {
  const Tensor positions = on_host(
      true_positions(input.dtype() == DType::kBool ? input : eg::call<op::Ne>(detach(input), 0)));
  const Shape& shape = input.shape();
  const Tensor result = Tensor::empty({positions.numel(), input.ndim()}, DType::kInt64);
  std::int64_t* row = result.data_as<std::int64_t>();
  const std::size_t ndim = shape.size();
  // Only the first position in a row is divided into indices: those that follow in the row differ
  // from it only in the last dimension.
  std::int64_t line_end = 0;
  for (const std::int64_t position : index_values(positions)) {
    if (position < line_end) {
      std::copy_n(row - ndim, ndim - 1, row);
      row[ndim - 1] = shape.back() - (line_end - position);
    } else {
      std::int64_t rest = position;
      for (std::size_t d = ndim; d-- > 0;) {
        row[d] = rest % shape[d];
        rest /= shape[d];
      }
      if (ndim > 0) line_end = position - row[ndim - 1] + shape.back();
    }
    row += ndim;
  }
  return moved(result, input.device());
}

Tensor RepeatInterleave::call(const Tensor& input, const Operand& repeats,
                              std::optional<std::int64_t> dim) {
  if (!dim.has_value()) return call(flat(input), repeats, 0);
  const Tensor counts = on_host(to_index(repeats.tensor(), doc.name));
  check(counts.ndim() <= 1, ErrorCode::kShapeMismatch, doc.name,
        "repeats must be a number or a vector, got shape ", counts.shape(), '.');
  const std::int64_t d = wrap_dim(*dim, input.ndim(), doc.name);
  const std::int64_t size = input.ndim() == 0 ? 1 : input.size(d);
  check(counts.numel() == 1 || counts.numel() == size, ErrorCode::kShapeMismatch, doc.name,
        "repeats must be one number or one for each of the ", size, " elements along dim ", d,
        ", got ", counts.numel(), '.');
  const bool is_same_for_all = counts.numel() == 1;
  CheckedInt total = 0;
  for (const std::int64_t count : index_values(counts)) {
    check(count >= 0, ErrorCode::kInvalidArgument, doc.name, "repeats must not be negative, got ",
          count, '.');
    total += count;
  }
  if (is_same_for_all) total = total * size;
  const auto* count = counts.data_as<std::int64_t>();
  if (is_same_for_all && *count > 1)
    return repeat_each(input.ndim() == 0 ? flat(input) : input, d, *count, total.value());
  const Tensor positions = Tensor::empty({total.value()}, DType::kInt64);
  auto* next = positions.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < size; ++i)
    next = std::fill_n(next, count[is_same_for_all ? 0 : i], i);
  return IndexSelect::call(input.ndim() == 0 ? flat(input) : input, d,
                           moved(positions, input.device()));
}

Tensor OneHot::call(const Tensor& input, std::int64_t num_classes) {
  const Tensor classes = on_host(to_index(input, doc.name));
  const std::span<const std::int64_t> values = index_values(classes);
  if (num_classes == -1) {
    check(!values.empty(), ErrorCode::kInvalidArgument, doc.name,
          "numClasses is required for an empty tensor.");
    const std::int64_t last = *std::max_element(values.begin(), values.end());
    num_classes = (CheckedInt(std::max<std::int64_t>(last, 0)) + 1).value();
  }
  check(num_classes > 0, ErrorCode::kInvalidArgument, doc.name, "numClasses must be positive, got ",
        num_classes, '.');
  if (const auto bad = find_out_of_range(classes, num_classes)) {
    check(*bad >= 0, ErrorCode::kIndexOutOfRange, doc.name, "classes must not be negative, got ",
          *bad, '.');
    fail(ErrorCode::kIndexOutOfRange, "[one_hot] classes must be less than numClasses, ",
         num_classes, ", got ", *bad, '.');
  }
  Shape shape = input.shape();
  shape.push_back(num_classes);
  const Tensor result = full(shape, 0, DType::kInt64);
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.data_as<std::int64_t>()[static_cast<std::int64_t>(i) * num_classes + values[i]] = 1;
  }
  return moved(result, input.device());
}

}  // namespace eg
