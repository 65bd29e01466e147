// Elementwise ops with sparse operands. The result is sparse where zeros stay zeros, which is
// tried: the formula is applied to a zero. So there is no list of ops.

#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/in_place.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "formulas/all.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {
namespace {

bool is_number(const Tensor& t) { return !t.is_sparse() && t.ndim() == 0; }

[[noreturn]] void refuse(const ElementwiseInfo& info, std::string_view reason) {
  fail(ErrorCode::kInvalidArgument, '[', info.name, "] ", reason,
       " Use toDense() of the sparse tensor.");
}

// Applies the formula to the values of inputs[which], where all others are numbers.
Tensor apply_to_values(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                       std::size_t which, const op::ParamValues& params) {
  SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
  operands[which] = full({}, 0, inputs[which].dtype(), inputs[which].device());
  {
    const NoGradGuard guard;
    const Tensor zero = apply_elementwise(info, operands, params);
    if (!is_true(zero == 0))
      refuse(info, "does not keep zeros, so that the result would not be sparse.");
  }
  const Pieces pieces(Coalesce::call(inputs[which]));
  operands[which] = pieces.values;
  return with_values(pieces.shape, pieces.pattern, apply_elementwise(info, operands, params));
}

void check_same_shape(const ElementwiseInfo& info, const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape(), ErrorCode::kShapeMismatch, info.name,
        "sparse tensors are not broadcast: expected equal shapes, got ", a.shape(), " and ",
        b.shape(), '.');
}

// a * b, where a is sparse: its elements times those of b there.
Tensor multiply(const ElementwiseInfo& info, const Tensor& a, const Tensor& b,
                const op::ParamValues& params) {
  const Shape shape = broadcast_shapes(a.shape(), b.shape(), info.name);
  // A sparse tensor that is repeated has more positions than the other.
  if (b.is_sparse() && a.shape() != shape && b.shape() == shape)
    return multiply(info, b, a, params);
  const Dims sizes(shape.begin(), shape.end());
  const Tensor other = Expand::call(b, sizes);
  const Pieces pieces(Coalesce::call(Expand::call(a, sizes)));
  const std::array<Tensor, 2> values{pieces.values, values_at(other, *pieces.pattern)};
  return with_values(pieces.shape, pieces.pattern, apply_elementwise(info, values, params));
}

bool is_sum(const ElementwiseInfo& info) {
  return &info == &elementwise_info<op::Add>() || &info == &elementwise_info<op::Sub>();
}

// The second operand of a sum, multiplied by what it is added with.
Tensor scaled_summand(const ElementwiseInfo& info, const Tensor& t, const op::ParamValues& params) {
  const double factor = &info == &elementwise_info<op::Add>() ? params[0] : -params[0];
  return factor == 1 ? t : call<op::Mul>(t, Operand(Scalar(factor)));
}

}  // namespace

Tensor apply_to_sparse(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                       const op::ParamValues& params) {
  if (info.arity == 1) return apply_to_values(info, inputs, 0, params);
  if (info.arity == 2) {
    const Tensor& a = inputs[0];
    const Tensor& b = inputs[1];
    if (is_sum(info)) {
      check_same_shape(info, a, b);
      return add_sparse(a, scaled_summand(info, b, params));
    }
    if (is_number(b)) return apply_to_values(info, inputs, 0, params);
    if (is_number(a)) return apply_to_values(info, inputs, 1, params);
    if (&info == &elementwise_info<op::Mul>())
      return a.is_sparse() ? multiply(info, a, b, params) : multiply(info, b, a, params);
  }
  refuse(info, "is not implemented for these sparse operands.");
}

Tensor apply_to_sparse_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                const op::ParamValues& params) {
  const Tensor& target = inputs[0];
  const bool recording = should_record(inputs);
  if (!target.is_sparse()) {
    if (is_sum(info) && !recording && !any_has_tangent(inputs)) {
      check_same_shape(info, target, inputs[1]);
      check_inplace(target, recording);
      check_no_internal_overlap(target);
      add_sparse_in_place(target, scaled_summand(info, inputs[1], params));
      return target;
    }
    return write_result(info.name, inputs, [&](const Tensor& t) {
      SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
      operands[0] = t;
      return ToDense::call(apply_to_sparse(info, operands, params));
    });
  }
  check_inplace(target, recording);
  const Tensor before = target.alias();
  if (recording) take_history(before, target);
  SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
  operands[0] = before;
  const Tensor after = apply_to_sparse(info, operands, params);
  check(after.is_sparse() && after.dtype() == target.dtype(), ErrorCode::kDtypeMismatch, info.name,
        "a result of another dtype or layout cannot be written in place to a sparse tensor of ",
        target.dtype(), '.');
  check_same_shape(info, after, target);
  target.set_sparse(after);
  target.bump_version();
  if (recording) take_history(target, after);
  return target;
}

}  // namespace eg
