#include "dispatch/precision.h"

#include "autograd/grad_mode.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "dispatch/factories.h"

namespace eg {

// Defined here so that it is not inlined into every caller.
CallOperands::~CallOperands() = default;

// In their computed dtype, operands of different dtypes would look the same.
void CallOperands::check_source(const Tensor& given) const {
  const bool is_known = is_stored_integer(given.dtype()) || is_stored_integer(first_);
  if (!is_known || given.ndim() == 0 || given.dtype() == first_) return;
  fail(ErrorCode::kDtypeMismatch, "expected operands of the same dtype, got ", first_, " and ",
       given.dtype(), '.');
}

// Computed in int64, uint32 would look like it, and the upper half of uint64 would be negative.
void CallOperands::check_computes(DType dtype) const {
  const bool is_exact = precision_ == Precision::kPositions || precision_ == Precision::kIndexed;
  if (dtype != DType::kUInt64 && (dtype != DType::kUInt32 || is_exact)) return;
  fail(ErrorCode::kDtypeMismatch, "not implemented for ", dtype, ". Convert with to('int64').");
}

void CallOperands::check_stored_number(Scalar number) const {
  if (precision_ != Precision::kPositions) (void)full({}, number, first_);
}

Tensor CallOperands::cast(const Tensor& given, DType dtype) {
  check_computes(dtype);
  // A tensor made in inference mode has no version counter to show whether the op changed it.
  AutogradState state = autograd_state();
  if (state.inference_mode) {
    state.inference_mode = state.grad_mode = false;
    state.dual_level = nullptr;
  }
  const AutogradStateGuard guard(state);
  const Tensor prepared = math::cast(math::cast(given, dtype), computed_dtype(dtype));
  casts_.push_back({given, prepared, prepared.version(), grad_fn(prepared).get()});
  return prepared;
}

void CallOperands::write_back() const {
  for (const Cast& cast : casts_) {
    if (cast.prepared.version() == cast.version) continue;
    // A change that was not recorded, such as an optimizer step, is not recorded here either.
    const bool is_recorded = grad_fn(cast.prepared).get() != cast.history;
    const GradModeGuard guard(is_recorded && is_grad_enabled());
    math::copy_values(cast.given, cast.prepared);
  }
}

DType CallOperands::result_dtype() const {
  if (wanted_.has_value()) return *wanted_;
  const bool is_full = precision_ == Precision::kFull && is_half(autograd_state().autocast);
  if (is_full) return DType::kFloat32;
  const std::optional<DType> fractions = promoted(is_differentiable);
  if (fractions.has_value()) return *fractions;
  // Positions are int64, which does not make other results wider.
  return promoted([](DType t) { return is_integral(t) && t != DType::kInt64; })
      .value_or(DType::kFloat32);
}

// The dtype that operands of some dtypes promote to. 0-dim tensors count only if no tensor with
// dimensions is of these.
std::optional<DType> CallOperands::promoted(bool (*counts)(DType)) const {
  for (const std::uint32_t seen : seen_) {
    std::optional<DType> result;
    for (std::size_t code = 0; code < kDTypeCount; ++code) {
      const auto dtype = static_cast<DType>(code);
      if ((seen & detail::dtype_bit(dtype)) == 0 || !counts(dtype)) continue;
      result = result.has_value() ? promote_types(*result, dtype) : dtype;
    }
    if (result.has_value()) return result;
  }
  return std::nullopt;
}

Tensor CallOperands::finished(const Tensor& result, DType dtype) const {
  if (!result.defined()) return result;
  // The norm of complex numbers is real.
  const bool is_real = is_complex(dtype) && result.dtype() == DType::kFloat32;
  if (!is_real && result.dtype() != computed_dtype(dtype)) return result;
  for (const Cast& cast : casts_) {
    if (result.is_same(cast.prepared) && cast.given.dtype() == dtype) return cast.given;
  }
  return math::cast(result, is_real ? real_dtype(dtype) : dtype);
}

void CallOperands::finish(std::span<Tensor> results) const {
  write_back();
  const DType dtype = result_dtype();
  if (!is_stored(dtype) || precision_ == Precision::kPositions) return;
  for (Tensor& result : results) result = finished(result, dtype);
}

}  // namespace eg
