#include "dispatch/elementwise.h"

#include <algorithm>

#include "autograd/forward_ad.h"
#include "autograd/tensor_math.h"
#include "dispatch/elementwise_node.h"
#include "dispatch/factories.h"
#include "dispatch/promotion.h"
#include "dispatch/record.h"

namespace eg {
namespace {

// The tangent inputs[0] will have after its change in place: that of the plain op on copies of
// what is about to be overwritten, values and tangents.
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

struct ResultTypes {
  DType compute;
  DType result;
};

ResultTypes result_types(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  if (info.first_is_mask) {
    check(inputs[0].dtype() == DType::kBool || inputs[0].dtype() == DType::kUInt8,
          ErrorCode::kDtypeMismatch, info.name, "expected the mask to be bool, got ",
          inputs[0].dtype(), '.');
    inputs = inputs.subspan(1);
  }
  DType compute = promote(inputs);
  if (info.dtype_rule == op::DTypeRule::kFloat && is_integral(compute)) compute = DType::kFloat32;
  if (info.dtype_rule == op::DTypeRule::kBool) return {compute, DType::kBool};
  return {compute, info.is_real_of_complex ? real_dtype(compute) : compute};
}

// The dtype a kernel works in: bool in uint8, complex64 in complex128.
DType kernel_dtype(DType compute) {
  if (compute == DType::kBool) return DType::kUInt8;
  return compute == DType::kComplex64 ? DType::kComplex128 : compute;
}

Shape result_shape(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  Shape shape = inputs[0].shape();
  for (const Tensor& input : inputs.subspan(1)) {
    if (input.shape() != shape) shape = broadcast_shapes(shape, input.shape(), info.name);
  }
  return shape;
}

void check_devices(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) {
    // A number may join any device.
    if (input.device() == inputs[0].device() || input.ndim() == 0 || inputs[0].ndim() == 0)
      continue;
    fail(ErrorCode::kDeviceMismatch, '[', info.name, "] expected all tensors on one device, got ",
         inputs[0].device(), " and ", input.device(), ". Move one with to('", inputs[0].device(),
         "').");
  }
}

// A result keeps the layout its operands agree on; otherwise it is row-major.
Tensor allocate_result(std::span<const Tensor> inputs, const Shape& shape, DType dtype) {
  const Tensor* model = nullptr;
  Device device;
  for (const Tensor& input : inputs) {
    if (!input.device().is_cpu()) device = input.device();
    if (input.ndim() == 0) continue;
    if (input.shape() != shape || (model != nullptr && model->strides() != input.strides())) {
      return Tensor::empty(shape, dtype, input.device());
    }
    model = &input;
  }
  if (model == nullptr || model->is_contiguous()) return Tensor::empty(shape, dtype, device);
  return empty_with_layout_of(*model, dtype);
}

cpu::Kernel forward_kernel(const ElementwiseInfo& info, DType compute) {
  const cpu::Kernel kernel = info.forward[static_cast<std::size_t>(compute)];
  check(kernel != nullptr, ErrorCode::kDtypeMismatch, info.name, "not implemented for ", compute,
        '.');
  return kernel;
}

void run_forward(const ElementwiseInfo& info, DType compute, const Tensor& out,
                 std::span<const Tensor> inputs, const op::ParamValues& params) {
  const cpu::Kernel kernel = forward_kernel(info, compute);
  const DType kernel_type = kernel_dtype(compute);
  const DType kernel_output = info.dtype_rule == op::DTypeRule::kBool ? DType::kBool
                              : info.is_real_of_complex               ? real_dtype(kernel_type)
                                                                      : kernel_type;
  run_kernel(kernel, kernel_type, kernel_output, out, inputs, params.data());
}

IntrusivePtr<ElementwiseNode> make_node(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                        const op::ParamValues& params) {
  return make_intrusive<ElementwiseNode>(info, collect_edges(inputs), inputs, params);
}

// Only inputs with a gradient formula count: a mask or a comparison records nothing.
bool records(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  if (!ops_are_recorded()) return false;
  bool by_inference_tensor = false;
  for (std::size_t i = 0; i < info.arity; ++i) {
    if (!info.gradients[i].exists || !requires_grad(inputs[i])) continue;
    if (!is_inference(inputs[i])) return true;
    by_inference_tensor = true;
  }
  return by_inference_tensor && has_normal_tensor(inputs);
}

// True when `t` can be read element by element beside the packed `out`, or is one element for all.
bool is_packed_with(const Tensor& t, const Tensor& out) {
  return t.numel() == 1 || (t.is_contiguous() && t.shape() == out.shape());
}

}  // namespace

Operand::Operand(Scalar scalar) : tensor_(scalar_tensor(scalar)) {}
Operand::Operand(std::complex<double> value) : tensor_(Tensor::empty({}, DType::kComplex128)) {
  *tensor_.data_as<std::complex<double>>() = value;
  tensor_.set_wrapped_number();
}

void run_kernel(cpu::Kernel kernel, DType compute, DType kernel_output, const Tensor& out,
                std::span<const Tensor> inputs, const double* params) {
  std::array<cpu::Operand, cpu::kMaxOperands> operands;
  const auto used = std::span(operands).first(inputs.size() + 1);
  // Operands that all lie packed are one dimension, whatever their shape.
  if (std::all_of(inputs.begin(), inputs.end(),
                  [&](const Tensor& t) { return !t.defined() || is_packed_with(t, out); }) &&
      out.is_contiguous()) {
    operands[0] = {out.data(), out.dtype(), {1}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = inputs[i].defined() ? inputs[i] : out;
      operands[i + 1] = {t.data(), t.dtype(), {t.numel() == 1 ? 0 : 1}};
    }
    cpu::run_elementwise(kernel, compute, kernel_output, {out.numel()}, used, params);
    return;
  }
  operands[0] = {out.data(), out.dtype(), out.strides()};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // What the formula does not read may be anything valid.
    const Tensor& t = inputs[i].defined() ? inputs[i] : out;
    operands[i + 1] = {t.data(), t.dtype(),
                       t.shape() == out.shape()
                           ? t.strides()
                           : broadcast_strides(t.shape(), t.strides(), out.shape())};
  }
  cpu::run_elementwise(kernel, compute, kernel_output, out.shape(), used, params);
}

Tensor apply_elementwise(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                         const op::ParamValues& params) {
  check_devices(info, inputs);
  const ResultTypes types = result_types(info, inputs);
  const Tensor out = allocate_result(inputs, result_shape(info, inputs), types.result);
  run_forward(info, types.compute, out, inputs, params);
  if (!is_differentiable(types.result)) return out;
  IntrusivePtr<ElementwiseNode> node;
  if (records(info, inputs)) {
    node = make_node(info, inputs, params);
    node->save_inputs(inputs);
    set_history(out, node);
  }
  // Before the output is saved, because its tangent is saved with it.
  if (any_has_tangent(inputs)) {
    set_tangent(out, own_tangent(elementwise_tangent(info, inputs, out, params), inputs));
  }
  if (node != nullptr) node->save_output(out, SavedAs::kOutput);
  return out;
}

Tensor apply_elementwise_in_place(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                  const op::ParamValues& params) {
  const Tensor& target = inputs[0];
  check_devices(info, inputs);
  const ResultTypes types = result_types(info, inputs);
  const Shape shape = result_shape(info, inputs);
  check(shape == target.shape(), ErrorCode::kShapeMismatch, info.name, "output with shape ",
        target.shape(), " doesn't match the broadcast shape ", shape, '.');
  check(can_cast(types.result, target.dtype()), ErrorCode::kDtypeMismatch, info.name,
        "result type ", types.result, " can't be cast to the desired output type ", target.dtype(),
        '.');
  check(!(info.is_real_of_complex && is_complex(types.compute)), ErrorCode::kDtypeMismatch,
        info.name, "In-place ", info.name, " is not supported for complex tensors.");
  forward_kernel(info, types.compute);

  const bool recording = records(info, inputs);
  check_inplace(target, recording);
  SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
  for (Tensor& operand : operands) {
    // Another view of the memory being written would be read half changed.
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
    // What is the target itself backward will find changed; kept whole it would keep this node.
    for (std::size_t i = 1; i < originals.size(); ++i) {
      if (originals[i].shares_storage_with(target)) originals[i] = detach(originals[i]);
    }
    node->save_inputs(originals);
  }
  const Tensor new_tangent =
      any_has_tangent(inputs) ? in_place_tangent(info, inputs, params) : Tensor();
  run_forward(info, types.compute, target, operands, params);
  target.bump_version();
  if (node != nullptr) rebase_history(target, node);
  set_tangent(target, new_tangent);
  if (node != nullptr) {
    node->save_output(target, is_view(target) ? SavedAs::kOutputInPlaceOnView : SavedAs::kOutput);
  }
  return target;
}

}  // namespace eg
