#include "dispatch/in_place.h"

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/handles/handle_table.h"
#include "dispatch/overlap.h"
#include "dispatch/promotion.h"

namespace eg {
namespace {

// A copy of `t` with the same history, and with a copy of its tangent.
Tensor snapshot(const Tensor& t) {
  const Tensor copy = contiguous_copy(t);
  take_history(copy, t);
  const Tensor tangent_of_t = tangent(t);
  if (!tangent_of_t.defined()) return copy;
  const Tensor tangent_of_copy = [&] {
    const NoDualLevelGuard guard;
    return math::clone(tangent_of_t);
  }();
  set_view_tangent(copy, tangent_of_copy);
  return copy;
}

}  // namespace

Tensor write_result(std::string_view op, std::span<const Tensor> operands,
                    const OfTarget& compute) {
  // A separate reference: `compute` may replace the first operand by the tensor it works on.
  Tensor target(operands[0].impl_ptr());
  const bool recording = should_record(operands);
  check_inplace(target, recording);
  check_no_internal_overlap(target);
  for (const Tensor& operand : operands.subspan(1)) check_no_partial_overlap(target, operand);
  Tensor result = compute(recording || any_has_tangent(operands) ? snapshot(target) : target);
  check(result.shape() == target.shape(), ErrorCode::kShapeMismatch, op, "a result of shape ",
        result.shape(), " cannot be written in place to a tensor of shape ", target.shape(), '.');
  check(can_cast(result.dtype(), target.dtype()), ErrorCode::kDtypeMismatch, op, "a result of ",
        result.dtype(), " cannot be written in place to a tensor of ", target.dtype(), '.');
  result = math::cast(result, target.dtype());
  // These cases need a recorded copy: it updates the history of a view's base, and it ends the
  // history of a target whose new values have none.
  if (is_view(target) || !requires_grad(result)) {
    math::copy_values(target, result);
    return target;
  }
  copy_data(target, result);
  target.bump_version();
  take_history(target, result);
  set_tangent(target, tangent(result));
  return target;
}

Tensor become_view(const Tensor& target, const OfTarget& compute) {
  // Other threads, kernels included, read shape and strides without a lock.
  if (target.travels() && HandleTable::instance().is_held_elsewhere(target)) {
    fail(ErrorCode::kInvalidArgument,
         "the tensor is shared with another thread, which may be reading its shape, so the shape "
         "cannot be changed in place. Use the form without the underscore, which returns a view.");
  }
  const bool recording = should_record({&target, 1});
  check_inplace(target, recording);
  const Tensor before = target.alias();
  if (recording) take_history(before, target);
  const Tensor after = compute(before);
  const Tensor old_tangent = tangent(target);
  const bool has_own_history = recording && !is_view(target);
  // A view rebuilds its history from its base and its new geometry the next time it is requested.
  if (has_own_history) take_history(target, after);
  target.set_geometry(after.shape(), after.strides(), after.offset());
  target.bump_version();
  if (!old_tangent.defined()) return target;
  const Tensor new_tangent = [&] {
    const NoDualLevelGuard guard;
    return compute(old_tangent);
  }();
  set_view_tangent(target, new_tangent);
  return target;
}

}  // namespace eg
