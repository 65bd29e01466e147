// compile: engine

#include "dispatch/elementwise.h"

#include <algorithm>
#include <span>

#include "autograd/forward_ad.h"
#include "autograd/tensor_math.h"
#include "backend/cpu/elementwise/packed.h"
#include "dispatch/elementwise_node.h"
#include "dispatch/elementwise_rules.h"
#include "dispatch/factories.h"
#include "dispatch/overlap.h"
#include "dispatch/precision.h"
#include "dispatch/promotion.h"
#include "dispatch/record.h"
#include "kernels/kernel.h"
#include "runtime/accelerator.h"

namespace eg {
namespace {

// The tangent of inputs[0] after the in-place op. It is that of the out-of-place op on copies,
// because values and tangents are about to be overwritten.
Tensor in_place_tangent(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                        const op::ParamValues& params) {
  SmallVector<Tensor, kMaxArity> copies(inputs.begin(), inputs.end());
  for (Tensor& copy : copies) {
    if (copy.shares_storage_with(inputs[0])) copy = math::clone(copy);
  }
  const Tensor result = tangent(apply_elementwise(info, copies, params));
  const NoDualLevelGuard guard;
  return result.defined() ? math::cast(result, inputs[0].dtype()) : result;
}

// The dtype a kernel works in: bool in uint8, complex numbers in complex128, other stored dtypes in
// that which they are computed in.
DType kernel_dtype(DType compute) {
  if (compute == DType::kBool) return DType::kUInt8;
  return is_complex(compute) ? DType::kComplex128 : computed_dtype(compute);
}

Shape result_shape(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  Shape shape = inputs[0].shape();
  for (const Tensor& input : inputs.subspan(1)) {
    if (input.shape() != shape) shape = broadcast_shapes(shape, input.shape(), info.name);
  }
  return shape;
}

// The device of the result. 0-dim tensors on the CPU can be combined with tensors on any device.
Device common_device(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  const Tensor* model = nullptr;
  for (const Tensor& input : inputs) {
    if (input.device().is_cpu() && input.ndim() == 0) continue;
    if (model == nullptr) model = &input;
    check_same_device(info.name, model->device(), input.device());
  }
  return model == nullptr ? Device{} : model->device();
}

// Allocates the result with the layout that all operands share, else row-major.
Tensor allocate_result(std::span<const Tensor> inputs, const Shape& shape, DType dtype,
                       Device device) {
  const Tensor* model = nullptr;
  for (const Tensor& input : inputs) {
    if (input.ndim() == 0) continue;
    if (input.shape() != shape || (model != nullptr && model->strides() != input.strides())) {
      return Tensor::empty(shape, dtype, device);
    }
    model = &input;
  }
  if (model == nullptr || model->is_contiguous()) return Tensor::empty(shape, dtype, device);
  return empty_with_layout_of(*model, dtype);
}

// Whether the bits of the result depend on the bits of integers, signed or not, in the same way.
// Where complex numbers are compared, nothing has an order.
bool depends_on_bits(const ElementwiseInfo& info) {
  return info.integer_rule == op::IntegerRule::kModular || info.first_is_mask ||
         (info.dtype_rule == op::DTypeRule::kBool && info.complex_rule != op::ComplexRule::kNone);
}

kernel::FormulaLoop forward_kernel(const ElementwiseInfo& info, DType compute) {
  const kernel::FormulaLoop kernel =
      info.forward[static_cast<std::size_t>(computed_dtype(compute))];
  check(kernel != nullptr, ErrorCode::kDtypeMismatch, info.name, "not implemented for ", compute,
        '.');
  check(compute != DType::kUInt64 || depends_on_bits(info), ErrorCode::kDtypeMismatch, info.name,
        "not implemented for uint64. Convert with to('int64') or to('float64').");
  return kernel;
}

SmallVector<const Tensor*, 5> addresses_of(std::span<const Tensor> tensors) {
  SmallVector<const Tensor*, 5> addresses;
  for (const Tensor& t : tensors) addresses.push_back(t.defined() ? &t : nullptr);
  return addresses;
}

void run_forward(const ElementwiseInfo& info, DType compute, const Tensor& out,
                 std::span<const Tensor> inputs, const op::ParamValues& params) {
  const kernel::FormulaLoop kernel = forward_kernel(info, compute);
  const DType kernel_type = kernel_dtype(compute);
  const DType result = info.dtype_rule == op::DTypeRule::kBool ? DType::kBool
                       : info.is_real_of_complex               ? real_dtype(kernel_type)
                                                               : kernel_type;
  run_formula({info.name, kernel::Formula::kForward, kernel, info.shader_numbers, params},
              kernel_type, result, out, addresses_of(inputs));
}

// True in the most common case, packed float32 tensors of one shape in CPU memory, for which the
// rules about dtypes, devices and shapes need not be evaluated.
bool are_plain(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  if (info.first_is_mask || info.dtype_rule == op::DTypeRule::kFirst) return false;
  return std::ranges::all_of(inputs, [&](const Tensor& t) {
    return t.dtype() == DType::kFloat32 && t.is_contiguous() && t.device().is_cpu() &&
           (&t == inputs.data() || t.shape() == inputs[0].shape());
  });
}

Tensor computed_plainly(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                        const op::ParamValues& params) {
  const bool is_comparison = info.dtype_rule == op::DTypeRule::kBool;
  const Tensor out =
      Tensor::empty(inputs[0].shape(), is_comparison ? DType::kBool : DType::kFloat32);
  run_forward(info, DType::kFloat32, out, inputs, params);
  return out;
}

Tensor computed(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                const op::ParamValues& params) {
  if (are_plain(info, inputs)) return computed_plainly(info, inputs, params);
  const Device device = common_device(info, inputs);
  check_operands(info, inputs);
  const ResultTypes types = result_types(info, inputs, params);
  const op::ParamValues values = checked_params(info, types.compute, inputs, params);
  const Shape shape = result_shape(info, inputs);
  check_second_integer(info, types.compute, shape, inputs);
  Tensor out = allocate_result(inputs, shape, types.result, device);
  run_forward(info, types.compute, out, inputs, values);
  return out;
}

IntrusivePtr<ElementwiseNode> make_node(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                        const op::ParamValues& params) {
  return make_intrusive<ElementwiseNode>(info, collect_edges(inputs), inputs, params);
}

// An op without any gradient formula, such as a comparison, records nothing. An op with a formula
// for some of its inputs records for all of them, so that backward reports which one is missing.
bool records(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  const bool has_formula =
      std::ranges::any_of(info.gradients, [](const auto& gradient) { return gradient.exists; });
  if (!has_formula || !ops_are_recorded()) return false;
  bool by_inference_tensor = false;
  for (std::size_t i = 0; i < info.arity; ++i) {
    if (!requires_grad(inputs[i])) continue;
    if (!is_inference(inputs[i])) return true;
    by_inference_tensor = true;
  }
  return by_inference_tensor && has_normal_tensor(inputs);
}

bool is_elsewhere(const Tensor* t, Device device) { return t != nullptr && t->device() != device; }

// Copies 0-dim operands on the CPU to the device of the other operands.
[[gnu::noinline]] SmallVector<Tensor, 5> joined(std::span<const Tensor* const> inputs,
                                                DType compute, Device device) {
  // complex64 is computed in complex128, which not every device has.
  const bool is_narrowed = compute == DType::kComplex128 && !accelerator(device).has_float64();
  const DType dtype = is_narrowed ? DType::kComplex64 : compute;
  SmallVector<Tensor, 5> operands;
  for (const Tensor* input : inputs) {
    operands.push_back(input == nullptr ? Tensor() : *input);
    if (!is_elsewhere(input, device)) continue;
    operands.back() = Tensor::empty(input->shape(), dtype, device);
    copy_data(operands.back(), *input);
  }
  return operands;
}

// True when `t` is packed and shaped like `out`, or is a single element for all of it.
bool is_packed_with(const Tensor& t, const Tensor& out) {
  return t.numel() == 1 || (t.is_contiguous() && t.shape() == out.shape());
}

bool ran_packed(const kernel::Formula& formula, DType compute, DType result, const Tensor& out,
                std::span<const Tensor* const> inputs) {
  SmallVector<cpu::PackedOperand, kernel::kMaxOperands> operands;
  operands.emplace_back(out.memory(), false);
  for (const Tensor* input : inputs) {
    // An operand that the formula does not read can be any valid memory.
    const Tensor& t = input != nullptr ? *input : out;
    operands.emplace_back(t.memory(), t.numel() == 1);
  }
  return cpu::run_packed(formula, compute, result, out.numel(), operands);
}

}  // namespace

Operand::Operand(Scalar scalar) : tensor_(scalar_tensor(scalar)) {}
Operand::Operand(std::complex<double> value) : tensor_(Tensor::empty({}, DType::kComplex128)) {
  *tensor_.data_as<std::complex<double>>() = value;
  tensor_.set_wrapped_number();
}

void run_formula(const kernel::Formula& formula, DType compute, DType result, const Tensor& out,
                 std::span<const Tensor* const> inputs) {
  const auto is_number_of_cpu = [&](const Tensor* t) { return is_elsewhere(t, out.device()); };
  if (!out.device().is_cpu() && std::ranges::any_of(inputs, is_number_of_cpu)) {
    const auto operands = joined(inputs, compute, out.device());
    return run_formula(formula, compute, result, out, addresses_of(operands));
  }
  // Packed operands are processed as one dimension, whatever their shape.
  const bool is_flat =
      out.is_contiguous() && std::all_of(inputs.begin(), inputs.end(), [&](const Tensor* t) {
        return t == nullptr || is_packed_with(*t, out);
      });
  if (is_flat && out.device().is_cpu() && recording() == nullptr &&
      ran_packed(formula, compute, result, out, inputs))
    return;
  kernel::Elementwise call{formula, compute, result, {}, {}};
  if (is_flat)
    call.shape.push_back(out.numel());
  else
    call.shape = out.shape();
  call.operands.resize(inputs.size() + 1);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    // An operand that the formula does not read can be any valid memory.
    const Tensor& t = i > 0 && inputs[i - 1] != nullptr ? *inputs[i - 1] : out;
    kernel::Operand& operand = call.operands[i];
    operand.memory = t.memory();
    if (is_flat)
      operand.strides.push_back(i > 0 && t.numel() == 1 ? 0 : 1);
    else if (t.shape() == out.shape())
      operand.strides = t.strides();
    else
      operand.strides = broadcast_strides(t.shape(), t.strides(), out.shape());
  }
  run(std::move(call));
}

namespace {

bool any_is_sparse(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (input.is_sparse()) return true;
  return false;
}

// apply_elementwise() for operands that need no conversion.
Tensor applied(const ElementwiseInfo& info, std::span<const Tensor> inputs,
               const op::ParamValues& params) {
  Tensor out = computed(info, inputs, params);
  if (!is_differentiable(out.dtype())) return out;
  IntrusivePtr<ElementwiseNode> node;
  if (records(info, inputs)) {
    node = make_node(info, inputs, params);
    node->save_inputs(inputs);
    set_history(out, node);
  }
  // Set before the output is saved, because its tangent is saved with it.
  if (any_has_tangent(inputs)) {
    set_tangent(out, own_tangent(elementwise_tangent(info, inputs, out, params), inputs));
  }
  if (node != nullptr) node->save_output(out, SavedAs::kOutput);
  return out;
}

Tensor applied_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                        const op::ParamValues& params) {
  const Tensor& target = inputs[0];
  const Device device = common_device(info, inputs);
  check(device == target.device(), ErrorCode::kDeviceMismatch, info.name, "a tensor on ",
        target.device(), " cannot be changed in place with operands on ", device, '.');
  check_operands(info, inputs);
  const ResultTypes types = result_types(info, inputs, params);
  const Shape shape = result_shape(info, inputs);
  check(shape == target.shape(), ErrorCode::kShapeMismatch, info.name, "a result of shape ", shape,
        " cannot be written in place to a tensor of shape ", target.shape(), '.');
  check(can_cast(types.result, target.dtype()), ErrorCode::kDtypeMismatch, info.name,
        "a result of ", types.result, " cannot be written in place to a tensor of ", target.dtype(),
        '.');
  check(!(info.is_real_of_complex && is_complex(types.compute)), ErrorCode::kDtypeMismatch,
        info.name, "the result is real and cannot be written in place to a complex tensor.");
  forward_kernel(info, types.compute);
  const op::ParamValues values = checked_params(info, types.compute, inputs, params);
  check_second_integer(info, types.compute, shape, inputs);

  const bool recording = records(info, inputs);
  check_inplace(target, recording);
  check_no_internal_overlap(target);
  for (const Tensor& operand : inputs.subspan(1)) check_no_partial_overlap(target, operand);
  SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
  for (Tensor& operand : operands) {
    // Another view of the target's memory would be read while it is being overwritten.
    const bool same_view = operand.shape() == target.shape() &&
                           operand.strides() == target.strides() &&
                           operand.offset() == target.offset();
    if (operand.shares_storage_with(target) && !same_view) operand = math::clone(operand);
  }
  IntrusivePtr<ElementwiseNode> node;
  if (recording) node = make_node(info, inputs, params);
  if (node != nullptr) {
    SmallVector<Tensor, kMaxArity> originals(operands);
    // Backward needs the value that is about to be overwritten.
    if (node->reads_input(0)) originals[0] = math::clone(target);
    // An operand that is the target itself is saved without its history, which would be this node
    // and form a cycle. Backward then reports that the operand was modified.
    for (std::size_t i = 1; i < originals.size(); ++i) {
      if (originals[i].shares_storage_with(target)) originals[i] = detach(originals[i]);
    }
    node->save_inputs(originals);
  }
  const Tensor new_tangent =
      any_has_tangent(inputs) ? in_place_tangent(info, inputs, params) : Tensor();
  run_forward(info, types.compute, target, operands, values);
  target.bump_version();
  if (node != nullptr) rebase_history(target, node);
  set_tangent(target, new_tangent);
  if (node != nullptr) {
    node->save_output(target, is_view(target) ? SavedAs::kOutputInPlaceOnView : SavedAs::kOutput);
  }
  return target;
}

}  // namespace

Tensor apply_elementwise(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                         const op::ParamValues& params) {
  if (any_is_sparse(inputs)) [[unlikely]]
    return apply_to_sparse(info, inputs, params);
  if (needs_conversion(info, inputs))
    return applied(info, converted_operands(info, inputs), params);
  return applied(info, inputs, params);
}

Tensor apply_elementwise_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                  const op::ParamValues& params) {
  if (any_is_sparse(inputs)) [[unlikely]]
    return apply_to_sparse_in_place(info, inputs, params);
  if (!needs_conversion(info, inputs)) return applied_in_place(info, inputs, params);
  auto operands = converted_operands(info, inputs);
  operands[0] = inputs[0];
  return applied_in_place(info, operands, params);
}

}  // namespace eg
