#include "ops/index/search.h"

#include "dispatch/factories.h"
#include "dispatch/promotion.h"
#include "dispatch/transfer.h"
#include "kernels/order.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"

namespace eg {
namespace {

bool has_sequence_for_each(const Tensor& sequences, const Tensor& values) {
  if (values.ndim() != sequences.ndim()) return false;
  for (std::int64_t d = 0; d + 1 < values.ndim(); ++d)
    if (values.size(d) != sequences.size(d)) return false;
  return true;
}

Tensor search(const Tensor& sequence, const Operand& input, bool out_int32, bool right,
              std::string_view op) {
  const std::array<Tensor, 2> both{sequence, input.tensor()};
  const bool is_number = both[1].is_wrapped_number();
  check(is_number || both[0].dtype() == both[1].dtype(), ErrorCode::kDtypeMismatch, op,
        "the sequence and input must have the same dtype, got ", both[0].dtype(), " and ",
        both[1].dtype(), '.');
  const DType dtype = promote(both);
  check(!is_complex(dtype), ErrorCode::kDtypeMismatch, op,
        "complex numbers cannot be ordered, got ", dtype, '.');
  check(sequence.ndim() > 0, ErrorCode::kShapeMismatch, op,
        "the sequence must have at least 1 dimension, got a 0-dim tensor.");
  const bool is_one = sequence.ndim() == 1;
  check(is_one || has_sequence_for_each(sequence, both[1]), ErrorCode::kShapeMismatch, op,
        "the sequence must be a vector or agree with input in all dimensions but the last, got "
        "shapes ",
        sequence.shape(), " and ", both[1].shape(), '.');
  const Tensor rows = packed(ToDType::call(detach(sequence), dtype));
  const Tensor number = ToDType::call(detach(both[1]), dtype);
  const Tensor values = packed(is_number ? moved(number, rows.device()) : number);
  check_same_device(op, rows.device(), values.device());
  const Tensor positions = Tensor::empty(values.shape(), DType::kInt64, values.device());
  if (positions.numel() > 0) {
    const std::int64_t count = is_one ? values.numel() : values.size(-1);
    run(kernel::SearchSorted{values.numel() / count, rows.size(-1), count, right, rows.memory(),
                             values.memory(), positions.memory()});
  }
  return out_int32 ? ToDType::call(positions, DType::kInt32) : positions;
}

}  // namespace

Tensor Searchsorted::call(const Tensor& sorted_sequence, const Operand& input, bool out_int32,
                          bool right, SearchSide side, const std::optional<Tensor>& sorter) {
  check(side != SearchSide::kLeft || !right, ErrorCode::kInvalidArgument, doc.name,
        "side: 'left' contradicts right: true.");
  if (sorter.has_value()) {
    check(sorter->shape() == sorted_sequence.shape(), ErrorCode::kShapeMismatch, doc.name,
          "sortedSequence and sorter must have the same shape, got ", sorted_sequence.shape(),
          " and ", sorter->shape(), '.');
    const Tensor sorted = Gather::call(sorted_sequence, -1, *sorter);
    return call(sorted, input, out_int32, right, side);
  }
  return search(sorted_sequence, input, out_int32, right || side == SearchSide::kRight, doc.name);
}

Tensor Bucketize::call(const Operand& input, const Tensor& boundaries, bool out_int32, bool right) {
  check(boundaries.ndim() == 1, ErrorCode::kShapeMismatch, doc.name,
        "boundaries must be a vector, got ", boundaries.ndim(), " dimensions.");
  return search(boundaries, input, out_int32, right, doc.name);
}

}  // namespace eg
