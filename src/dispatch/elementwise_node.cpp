// compile: engine

#include "dispatch/elementwise_node.h"

#include <algorithm>

#include "autograd/forward_ad.h"
#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/record.h"

namespace eg {
namespace {

using Values = ElementwiseNode::Values;

bool is_single(const Tensor& t) { return computed_dtype(t.dtype()) == DType::kFloat32; }

bool can_fuse(const ElementwiseInfo::Gradient& gradient, const Tensor& g, const Values& values) {
  if (ops_are_differentiated() || gradient.kernel == nullptr || !is_single(g)) return false;
  for (const Tensor& value : values) {
    // Masks and numbers are converted on the way; wider values would lose digits.
    const bool fits = !value.defined() || is_single(value) || value.dtype() == DType::kBool ||
                      (value.ndim() == 0 && !is_complex(value.dtype()));
    if (!fits) return false;
  }
  return true;
}

Tensor fused_gradient(const ElementwiseInfo& info, std::size_t i, Tensor g, const Values& values,
                      const op::ParamValues& params) {
  const ElementwiseInfo::Gradient& gradient = info.gradients[i];
  // A gradient with no other owner is overwritten by the result.
  const bool overwrite = g.use_count() == 1 && g.storage()->use_count() == 1 &&
                         is_non_overlapping_and_dense(g.shape(), g.strides());
  const Tensor out = overwrite ? g : empty_like(g);
  SmallVector<const Tensor*, 5> operands;
  operands.push_back(&g);
  for (std::size_t j = 0; j <= info.arity; ++j) {
    const bool is_read = (gradient.reads >> j & 1U) != 0 && values[j].defined();
    operands.push_back(is_read ? &values[j] : nullptr);
  }
  run_formula({info.name, static_cast<int>(i), gradient.kernel, info.shader_numbers, params},
              DType::kFloat32, DType::kFloat32, out, operands);
  return out;
}

// Converts a plain number to the dtype of the other operands, for formulas over tensors. Otherwise
// an expression of that number alone (1 - weight) would be computed in float32.
Tensor of_dtype(const Tensor& value, DType dtype) {
  if (!value.defined() || !value.is_wrapped_number()) return value;
  if (is_complex(value.dtype())) return math::cast(detach(value), dtype);
  return as_element(value, real_dtype(dtype));
}

// g times the derivative by input `i`. The Jacobian is diagonal, so this maps gradients of the
// output to gradients of the input and tangents of the input to tangents of the output.
Tensor times_derivative(const ElementwiseInfo& info, std::size_t i, Tensor g, const Values& values,
                        const op::ParamValues& params) {
  const ElementwiseInfo::Gradient& gradient = info.gradients[i];
  if (!gradient.exists) {
    fail(ErrorCode::kNotDifferentiable, info.name, " is not differentiable with respect to its ",
         info.operands[i], '.');
  }
  const bool passes_on = gradient.is_identity || (gradient.is_identity_with != nullptr &&
                                                  gradient.is_identity_with(params.data()));
  if (passes_on) return g;
  if (can_fuse(gradient, g, values)) return fused_gradient(info, i, std::move(g), values, params);
  std::array<Var, kMaxArity> inputs{Var(0), Var(0), Var(0)};
  for (std::size_t j = 0; j < info.arity; ++j) inputs[j] = Var(of_dtype(values[j], g.dtype()));
  const Var result = gradient.formula(Var(g), std::span(inputs).first(info.arity),
                                      Var(values[info.arity]), params.data());
  return result.is_number() ? full_like(g, result.number()) : result.tensor();
}

// The values that a formula of complex numbers needs as complex numbers.
void convert_reals(const ElementwiseInfo& info, Values& values, DType dtype) {
  if (info.complex_rule != op::ComplexRule::kMultivalued || !is_complex(dtype)) return;
  for (Tensor& value : values) {
    if (value.defined() && !is_complex(value.dtype())) value = math::cast(value, dtype);
  }
}

// Backward of a holomorphic function multiplies by the conjugate of f'(z), which is f'(conj z).
void conjugate(Values& values) {
  for (Tensor& value : values) {
    if (value.defined() && is_complex(value.dtype())) value = math::conj(value);
  }
}

}  // namespace

ElementwiseNode::ElementwiseNode(const ElementwiseInfo& info, EdgeList&& edges,
                                 std::span<const Tensor> inputs, const op::ParamValues& params)
    : Node(std::move(edges)), info_(info), params_(params) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_complex(inputs[i].dtype())) real_inputs_ |= 1U << i;
  }
}

std::string ElementwiseNode::name() const { return node_name(info_.name); }

void ElementwiseNode::save_inputs(std::span<const Tensor> inputs) {
  const std::uint32_t reads = wanted_reads();
  for (std::size_t i = 0; i < info_.arity; ++i) {
    if (reads_slot(reads, i)) saved_[i] = SavedVariable(inputs[i], SavedAs::kInput);
  }
}

void ElementwiseNode::save_output(const Tensor& output, SavedAs role) {
  if (reads_slot(wanted_reads(), info_.arity)) saved_[info_.arity] = SavedVariable(output, role);
}

std::vector<NamedSavedVariable> ElementwiseNode::saved_variables() {
  std::vector<NamedSavedVariable> result;
  const std::uint32_t reads = wanted_reads();
  for (std::size_t i = 0; i <= info_.arity; ++i) {
    if (reads_slot(reads, i)) result.push_back({std::string(slot_name(i)), &saved_[i]});
  }
  return result;
}

std::vector<NamedNumber> ElementwiseNode::saved_numbers() const {
  std::vector<NamedNumber> result;
  result.reserve(info_.params.size());
  for (std::size_t i = 0; i < info_.params.size(); ++i) {
    result.push_back({info_.params[i].name, params_[i]});
  }
  return result;
}

void ElementwiseNode::release_variables() {
  // Destroyed after the lock is released, because hooks on a saved tensor may be user code.
  SmallVector<SavedVariable, kMaxArity + 1> released;
  const auto lock = lock_objects(mutex());
  for (SavedVariable& slot : saved_) {
    if (slot.was_saved()) released.push_back(slot.take());
  }
}

GradList ElementwiseNode::apply(GradList&& grads) {
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
  convert_reals(info_, values, g.dtype());
  if (info_.complex_rule != op::ComplexRule::kAsWritten) conjugate(values);
  // The last gradient to be computed may reuse the memory of the incoming one.
  std::size_t last = info_.arity;
  while (last > 0 && !wanted[last - 1]) --last;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    if (wanted[i]) result[i] = gradient(i, g, values);
  }
  if (last > 0) result[last - 1] = gradient(last - 1, std::move(g), values);
  return result;
}

Tensor ElementwiseNode::gradient(std::size_t i, Tensor g, const Values& values) const {
  Tensor result = times_derivative(info_, i, std::move(g), values, params_);
  // The gradient of a real input is real, also when the other operand is complex.
  const bool takes_real_part = is_complex(result.dtype()) && (real_inputs_ >> i & 1U) != 0;
  return takes_real_part ? math::real(result) : result;
}

// PyTorch calls the first operand self in its derivatives.
std::string_view ElementwiseNode::slot_name(std::size_t slot) const {
  if (slot == info_.arity) return "result";
  const std::string_view name = info_.operands[slot];
  return name == "input" ? "self" : name;
}

std::uint32_t ElementwiseNode::wanted_reads() const {
  std::uint32_t reads = 0;
  for (std::size_t i = 0; i < info_.arity; ++i) {
    if (should_compute_output(i)) reads |= info_.gradients[i].reads;
  }
  return reads;
}

Values ElementwiseNode::unpack(std::uint32_t reads) const {
  Values values;
  if (reads == 0) return values;
  auto lock = lock_objects(mutex());
  for (std::size_t i = 0; i <= info_.arity; ++i) {
    if (reads_slot(reads, i)) values[i] = saved_[i].value(*this, lock);
  }
  return values;
}

Tensor elementwise_tangent(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                           const Tensor& output, const op::ParamValues& params) {
  const TensorList tangents = tangents_of(inputs);
  Values values;
  std::copy(inputs.begin(), inputs.end(), values.begin());
  values[info.arity] = output;
  // If the function is not holomorphic, its gradient formula does not map tangents. They are mapped
  // through backward instead.
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
  convert_reals(info, values, output.dtype());
  Tensor sum;
  for (std::size_t i = 0; i < info.arity; ++i) {
    if (!tangents[i].defined()) continue;
    const Tensor direction = math::expand(math::cast(tangents[i], output.dtype()), output.shape());
    const Tensor term = times_derivative(info, i, direction, values, params);
    sum = sum.defined() ? math::add(sum, term) : term;
  }
  return sum;
}

}  // namespace eg
