#include "dispatch/elementwise.h"

#include <algorithm>

#include "autograd/forward_ad.h"
#include "autograd/tensor_math.h"
#include "dispatch/complex_ops.h"
#include "dispatch/copy_ops.h"
#include "dispatch/factories.h"
#include "dispatch/promotion.h"
#include "dispatch/record.h"
#include "dispatch/view_ops.h"

namespace eg {
namespace {

// The inputs and, at the place after them, the output; undefined where no formula reads them.
using Values = std::array<Tensor, kMaxArity + 1>;

bool can_fuse(const ElementwiseInfo::Gradient& gradient, const Tensor& g, const Values& values) {
  if (ops_are_differentiated() || gradient.kernel == nullptr || g.dtype() != DType::kFloat32)
    return false;
  for (const Tensor& value : values) {
    // Masks and numbers are converted on the way; wider values would lose digits.
    const bool fits = !value.defined() || value.dtype() == DType::kFloat32 ||
                      value.dtype() == DType::kBool ||
                      (value.ndim() == 0 && !is_complex(value.dtype()));
    if (!fits) return false;
  }
  return true;
}

Tensor fused_gradient(const ElementwiseInfo& info, std::size_t i, Tensor g, const Values& values,
                      const op::ParamValues& params) {
  const ElementwiseInfo::Gradient& gradient = info.gradients[i];
  // A gradient nobody else can see is overwritten by the next one.
  const bool overwrite = g.use_count() == 1 && g.storage()->use_count() == 1 &&
                         is_non_overlapping_and_dense(g.shape(), g.strides());
  const Tensor out = overwrite ? g : empty_like(g);
  SmallVector<Tensor, 5> operands;
  operands.push_back(g);
  for (std::size_t j = 0; j <= info.arity; ++j) {
    operands.push_back((gradient.reads >> j & 1U) != 0 ? values[j] : Tensor());
  }
  run_kernel(gradient.kernel, DType::kFloat32, DType::kFloat32, out, operands, params.data());
  return out;
}

// g times the derivative by input `i`. The Jacobian is diagonal, so this maps gradients of the
// output to gradients of the input and tangents of the input to tangents of the output.
Tensor times_derivative(const ElementwiseInfo& info, std::size_t i, Tensor g, const Values& values,
                        const op::ParamValues& params) {
  const ElementwiseInfo::Gradient& gradient = info.gradients[i];
  if (!gradient.exists) {
    fail(ErrorCode::kNotDifferentiable, "derivative for ", info.name, " is not implemented.");
  }
  const bool passes_on = gradient.is_identity || (gradient.is_identity_with != nullptr &&
                                                  gradient.is_identity_with(params.data()));
  if (passes_on) return g;
  if (can_fuse(gradient, g, values)) return fused_gradient(info, i, std::move(g), values, params);
  std::array<Var, kMaxArity> inputs{Var(0), Var(0), Var(0)};
  for (std::size_t j = 0; j < info.arity; ++j) inputs[j] = Var(values[j]);
  const Var result = gradient.formula(Var(g), std::span(inputs).first(info.arity),
                                      Var(values[info.arity]), params.data());
  return result.is_number() ? full_like(g, result.number()) : result.tensor();
}

// What backward of a holomorphic function reads: f'(conj z) is the conjugate of f'(z).
void conjugate(Values& values) {
  for (Tensor& value : values) {
    if (value.defined()) value = Conj::call(value);
  }
}

// The node of every elementwise op.
class ElementwiseNode final : public Node {
 public:
  ElementwiseNode(const ElementwiseInfo& info, EdgeList edges, std::span<const Tensor> inputs,
                  const op::ParamValues& params)
      : Node(std::move(edges)), info_(info), params_(params) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_complex(inputs[i].dtype())) real_inputs_ |= 1U << i;
    }
  }

  std::string name() const override { return node_name(info_.name); }

  /// Keeps of the inputs what the gradients that are wanted read.
  void save_inputs(std::span<const Tensor> inputs) {
    const std::uint32_t reads = wanted_reads();
    for (std::size_t i = 0; i < info_.arity; ++i) {
      if (reads_slot(reads, i)) saved_[i] = SavedVariable(inputs[i], SavedAs::kInput);
    }
  }
  void save_output(const Tensor& output, SavedAs role) {
    if (reads_slot(wanted_reads(), info_.arity)) saved_[info_.arity] = SavedVariable(output, role);
  }
  bool reads_input(std::size_t i) const { return reads_slot(wanted_reads(), i); }

  std::vector<NamedSavedVariable> saved_variables() override {
    std::vector<NamedSavedVariable> result;
    const std::uint32_t reads = wanted_reads();
    for (std::size_t i = 0; i <= info_.arity; ++i) {
      if (reads_slot(reads, i)) result.push_back({slot_name(i), &saved_[i]});
    }
    return result;
  }
  std::vector<NamedNumber> saved_numbers() const override {
    std::vector<NamedNumber> result;
    result.reserve(info_.params.size());
    for (std::size_t i = 0; i < info_.params.size(); ++i) {
      result.push_back({info_.params[i].name, params_[i]});
    }
    return result;
  }

  void release_variables() override {
    Slots released;
    const std::scoped_lock lock(mutex());
    // Destroyed after the lock is gone, for hooks on a saved tensor may be the user's.
    released = std::move(saved_);
  }

  GradList apply(GradList&& grads) override {
    GradList result(num_outputs());
    Tensor g = std::move(grads[0]);
    if (!g.defined()) return result;
    std::array<bool, kMaxArity> wanted{};
    std::uint32_t reads = 0;
    for (std::size_t i = 0; i < info_.arity; ++i) {
      wanted[i] = task_should_compute_output(i);
      if (wanted[i]) reads |= info_.gradients[i].reads;
    }
    Values values = unpack(reads);
    if (info_.complex_rule == op::ComplexRule::kHolomorphic) conjugate(values);
    // The last gradient to be computed may reuse the memory of the incoming one.
    std::size_t last = info_.arity;
    while (last > 0 && !wanted[last - 1]) --last;
    for (std::size_t i = 0; i + 1 < last; ++i) {
      if (wanted[i]) result[i] = gradient(i, g, values);
    }
    if (last > 0) result[last - 1] = gradient(last - 1, std::move(g), values);
    return result;
  }

 private:
  using Slots = std::array<SavedVariable, kMaxArity + 1>;

  Tensor gradient(std::size_t i, Tensor g, const Values& values) const {
    Tensor result = times_derivative(info_, i, std::move(g), values, params_);
    // A real input that met a complex one moves along the real axis alone.
    return (real_inputs_ >> i & 1U) != 0 ? Real::call(result) : result;
  }

  static bool reads_slot(std::uint32_t reads, std::size_t slot) {
    return (reads >> slot & 1U) != 0;
  }
  // PyTorch calls the first operand self in its derivatives.
  std::string_view slot_name(std::size_t slot) const {
    if (slot == info_.arity) return "result";
    const std::string_view name = info_.operands[slot];
    return name == "input" ? "self" : name;
  }

  std::uint32_t wanted_reads() const {
    std::uint32_t reads = 0;
    for (std::size_t i = 0; i < info_.arity; ++i) {
      if (should_compute_output(i)) reads |= info_.gradients[i].reads;
    }
    return reads;
  }

  Values unpack(std::uint32_t reads) const {
    Values values;
    if (reads == 0) return values;
    std::unique_lock lock(mutex());
    for (std::size_t i = 0; i <= info_.arity; ++i) {
      if (reads_slot(reads, i)) values[i] = saved_[i].value(*this, lock);
    }
    return values;
  }

  const ElementwiseInfo& info_;
  op::ParamValues params_;
  std::uint32_t real_inputs_ = 0;
  Slots saved_;
};

// The tangent of `output`: the sum over the inputs of tangent times derivative.
Tensor output_tangent(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                      const Tensor& output, const op::ParamValues& params) {
  const TensorList tangents = tangents_of(inputs);
  Values values;
  std::copy(inputs.begin(), inputs.end(), values.begin());
  values[info.arity] = output;
  // A function that is not complex-linear in small changes has another derivative than gradient.
  if (info.complex_rule == op::ComplexRule::kAsWritten) {
    const bool any_complex = std::any_of(inputs.begin(), inputs.end(),
                                         [](const Tensor& t) { return is_complex(t.dtype()); });
    if (any_complex) {
      const auto node =
          make_intrusive<ElementwiseNode>(info, tangent_edges(inputs), inputs, params);
      node->add_input_metadata(output);
      node->save_inputs(inputs);
      node->save_output(output, SavedAs::kInput);
      return map_tangents(*node, {&output, 1}, inputs)[0];
    }
  }
  const NoDualLevelGuard guard;
  Tensor sum;
  for (std::size_t i = 0; i < info.arity; ++i) {
    if (!tangents[i].defined()) continue;
    const Tensor direction =
        Expand::call(ToDType::call(tangents[i], output.dtype()), output.shape());
    const Tensor term = times_derivative(info, i, direction, values, params);
    sum = sum.defined() ? math::add(sum, term) : term;
  }
  return sum;
}

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
    set_tangent(out, own_tangent(output_tangent(info, inputs, out, params), inputs));
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
