#include "dispatch/elementwise.h"

#include <algorithm>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/promotion.h"
#include "dispatch/record.h"

namespace eg {
namespace {

// The node of every elementwise op.
class ElementwiseNode final : public Node {
 public:
  ElementwiseNode(const ElementwiseInfo& info, EdgeList edges, const op::ParamValues& params)
      : Node(std::move(edges)), info_(info), params_(params) {}

  std::string name() const override { return node_name(info_.name); }

  /// Keeps of the inputs what the gradients that are wanted read.
  void save_inputs(std::span<const Tensor> inputs) {
    const std::uint32_t reads = wanted_reads();
    for (std::size_t i = 0; i < info_.arity; ++i) {
      if ((reads >> i & 1U) != 0) saved_[i] = SavedVariable(inputs[i], false);
    }
  }
  void save_output(const Tensor& output) {
    if ((wanted_reads() >> info_.arity & 1U) != 0)
      saved_[info_.arity] = SavedVariable(output, true);
  }
  bool reads_input(std::size_t i) const { return (wanted_reads() >> i & 1U) != 0; }

  void release_variables() override {
    const std::scoped_lock lock(mutex());
    for (SavedVariable& saved : saved_) saved.release();
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
    const Values values = unpack(reads);
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
  using Values = std::array<Tensor, kMaxArity + 1>;

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
    const std::scoped_lock lock(mutex());
    for (std::size_t i = 0; i <= info_.arity; ++i) {
      if ((reads >> i & 1U) != 0) values[i] = saved_[i].unpack(*this);
    }
    return values;
  }

  Tensor gradient(std::size_t i, Tensor g, const Values& values) const {
    const ElementwiseInfo::Gradient& gradient = info_.gradients[i];
    if (!gradient.exists) {
      fail(ErrorCode::kNotDifferentiable, "derivative for ", info_.name, " is not implemented.");
    }
    const bool passes_on = gradient.is_identity || (gradient.is_identity_with != nullptr &&
                                                    gradient.is_identity_with(params_.data()));
    if (passes_on) return g;
    if (can_fuse(gradient, g, values)) return fused_gradient(gradient, std::move(g), values);
    std::array<Var, kMaxArity> inputs{Var(0), Var(0), Var(0)};
    for (std::size_t j = 0; j < info_.arity; ++j) inputs[j] = Var(values[j]);
    const Var result = gradient.formula(Var(g), std::span(inputs).first(info_.arity),
                                        Var(values[info_.arity]), params_.data());
    return result.is_number() ? full_like(g, result.number()) : result.tensor();
  }

  bool can_fuse(const ElementwiseInfo::Gradient& gradient, const Tensor& g,
                const Values& values) const {
    if (is_grad_enabled() || gradient.kernel == nullptr || g.dtype() != DType::kFloat32)
      return false;
    for (const Tensor& value : values) {
      // Masks and numbers are converted on the way; wider values would lose digits.
      const bool fits = !value.defined() || value.dtype() == DType::kFloat32 ||
                        value.dtype() == DType::kBool || value.ndim() == 0;
      if (!fits) return false;
    }
    return true;
  }

  Tensor fused_gradient(const ElementwiseInfo::Gradient& gradient, Tensor g,
                        const Values& values) const {
    // A gradient nobody else can see is overwritten by the next one.
    const bool overwrite = g.use_count() == 1 && g.storage()->use_count() == 1 &&
                           is_non_overlapping_and_dense(g.shape(), g.strides());
    const Tensor out = overwrite ? g : empty_like(g);
    SmallVector<Tensor, 5> operands;
    operands.push_back(g);
    for (std::size_t j = 0; j <= info_.arity; ++j) {
      operands.push_back((gradient.reads >> j & 1U) != 0 ? values[j] : Tensor());
    }
    run_kernel(gradient.kernel, DType::kFloat32, DType::kFloat32, out, operands, params_.data());
    return out;
  }

  const ElementwiseInfo& info_;
  op::ParamValues params_;
  std::array<SavedVariable, kMaxArity + 1> saved_;
};

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
  return {compute, info.dtype_rule == op::DTypeRule::kBool ? DType::kBool : compute};
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
  const DType kernel_type = compute == DType::kBool ? DType::kUInt8 : compute;
  const DType kernel_output = info.dtype_rule == op::DTypeRule::kBool ? DType::kBool : kernel_type;
  run_kernel(kernel, kernel_type, kernel_output, out, inputs, params.data());
}

IntrusivePtr<ElementwiseNode> make_node(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                                        const op::ParamValues& params) {
  return make_intrusive<ElementwiseNode>(info, collect_edges(inputs), params);
}

// Only inputs with a gradient formula count: a mask or a comparison records nothing.
bool records(const ElementwiseInfo& info, std::span<const Tensor> inputs) {
  if (!is_grad_enabled()) return false;
  for (std::size_t i = 0; i < info.arity; ++i) {
    if (info.gradients[i].exists && requires_grad(inputs[i])) return true;
  }
  return false;
}

// True when `t` can be read element by element beside the packed `out`, or is one element for all.
bool is_packed_with(const Tensor& t, const Tensor& out) {
  return t.numel() == 1 || (t.is_contiguous() && t.shape() == out.shape());
}

}  // namespace

Operand::Operand(Scalar scalar) : tensor_(scalar_tensor(scalar)) {}

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
  if (records(info, inputs) && is_differentiable(types.result)) {
    const IntrusivePtr<ElementwiseNode> node = make_node(info, inputs, params);
    node->save_inputs(inputs);
    set_history(out, node);
    node->save_output(out);
  }
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
  forward_kernel(info, types.compute);

  const bool recording = records(info, inputs);
  check_inplace(target, recording);
  SmallVector<Tensor, kMaxArity> operands(inputs.begin(), inputs.end());
  for (Tensor& operand : operands) {
    // Another view of the memory being written would be read half changed.
    const bool same_view = operand.shape() == target.shape() &&
                           operand.strides() == target.strides() &&
                           operand.offset() == target.offset();
    if (operand.shares_storage_with(target) && !same_view) operand = contiguous_copy(operand);
  }
  IntrusivePtr<ElementwiseNode> node;
  if (recording) {
    node = make_node(info, inputs, params);
    SmallVector<Tensor, kMaxArity> originals(operands);
    // Backward needs the value that is about to be overwritten.
    if (node->reads_input(0)) originals[0] = math::clone(target);
    node->save_inputs(originals);
  }
  run_forward(info, types.compute, target, operands, params);
  target.bump_version();
  if (node != nullptr) {
    rebase_history(target, node);
    node->save_output(target);
  }
  return target;
}

}  // namespace eg
