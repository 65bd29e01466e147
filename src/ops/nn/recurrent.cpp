#include "ops/nn/recurrent.h"

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "ops/matrix/matrix_product.h"
#include "ops/nn/recurrent_layer.h"

namespace eg {
namespace {

using kernel::RecurrentCell;

// Element `i` along the first dimension of a packed tensor, not recorded.
Tensor part(const Tensor& t, std::int64_t i, std::int64_t count = 1) {
  const std::int64_t size = t.strides()[0];
  return t.alias({count * t.size(1), t.size(2)}, {t.size(2), 1}, t.offset() + i * size);
}

// ---------------------------------------------------------------- with kernels

// What a call keeps for backward, of every step.
struct Kept {
  Tensor numbers;  // those of kernel::RecurrentStep; undefined if there are none
  Tensor states;   // after the steps; undefined except for LSTM
};

TensorList fused_steps(const RecurrentLayer& given, bool is_kept, Kept& kept) {
  const RecurrentLayer layer{given.cell,           given.reverse,        packed(given.input_gates),
                             packed(given.hidden), packed(given.weight), packed(given.bias),
                             packed(given.state)};
  const std::int64_t rows = layer.rows();
  const std::int64_t width = layer.width();
  const auto steps_of = [&](std::int64_t steps, std::int64_t numbers) {
    return Tensor::empty({steps, rows, numbers * width}, layer.hidden.dtype(),
                         layer.hidden.device());
  };
  const std::int64_t steps_kept = is_kept ? layer.steps() : 1;
  if (const std::int64_t numbers = kept_of(layer.cell))
    kept.numbers = steps_of(steps_kept, numbers);
  if (layer.state.defined()) kept.states = steps_of(steps_kept, 1);
  const Tensor output = steps_of(layer.steps(), 1);
  Tensor hidden = layer.hidden;
  Tensor state = layer.state;
  for (std::int64_t step = 0; step < layer.steps(); ++step) {
    const std::int64_t position = layer.position(step);
    const auto kept_part = [&](const Tensor& t) {
      return t.defined() ? part(t, is_kept ? position : 0) : t;
    };
    const Tensor next = kept_part(kept.states);
    const Tensor next_hidden = part(output, position);
    run(kernel::RecurrentStep{{layer.cell, rows, width},
                              part(layer.input_gates, position).memory(),
                              hidden.memory(),
                              layer.weight.memory(),
                              optional_memory(layer.bias),
                              optional_memory(state),
                              optional_memory(kept_part(kept.numbers)),
                              optional_memory(next),
                              next_hidden.memory()});
    hidden = next_hidden;
    state = next;
  }
  TensorList results{output, contiguous_copy(hidden)};
  if (state.defined()) results.push_back(contiguous_copy(state));
  return results;
}

// The gradient of the weight: one product over all steps, whose hidden states are the first one and
// those of the output.
Tensor weight_gradient(const RecurrentLayer& layer, const Tensor& output, const Tensor& of_gates) {
  const Tensor result =
      Tensor::empty(layer.weight.shape(), layer.weight.dtype(), layer.weight.device());
  const auto add_product = [&](const Tensor& gates, const Tensor& hidden, double beta) {
    const std::int64_t columns = gates.size(1);
    const Tensor turned = gates.alias({columns, gates.size(0)}, {1, columns}, gates.offset());
    multiply_into(result, turned, hidden, 1, beta);
  };
  add_product(part(of_gates, layer.position(0)), layer.hidden, 0);
  if (const std::int64_t last = layer.steps() - 1) {
    add_product(part(of_gates, layer.reverse ? 0 : 1, last),
                part(output, layer.reverse ? 1 : 0, last), 1);
  }
  return result;
}

GradList fused_gradients(const RecurrentLayer& layer, const Kept& kept, const Tensor& output,
                         const RecurrentGrads& grads, bool needs_weight, bool needs_bias) {
  const bool is_gru = layer.cell == RecurrentCell::kGru;
  const std::int64_t last = layer.steps() - 1;
  const Tensor grad_output = packed(grads.output);
  const Tensor grad_hidden = packed(grads.hidden);
  const Tensor weight = packed(layer.weight);
  const Tensor& states = kept.states.defined() ? kept.states : output;
  const Tensor first = packed(layer.state.defined() ? layer.state : layer.hidden);
  const auto empty_like = [](const Tensor& t) {
    return Tensor::empty(t.shape(), t.dtype(), t.device());
  };
  const Tensor of_gates = empty_like(layer.input_gates);
  const Tensor of_input_gates = is_gru ? empty_like(layer.input_gates) : of_gates;
  Tensor of_state;
  if (grads.state.defined())
    of_state = contiguous_copy(grads.state);
  else if (is_gru || layer.state.defined())
    of_state = full_like(first, 0);
  Tensor next_gates;
  for (std::int64_t step = last; step >= 0; --step) {
    const std::int64_t position = layer.position(step);
    const auto part_here = [&](const Tensor& t) { return t.defined() ? part(t, position) : t; };
    const Tensor before = step == 0 ? first : part(states, layer.position(step - 1));
    const Tensor gates = part(of_gates, position);
    run(kernel::RecurrentStepBackward{
        {layer.cell, layer.rows(), layer.width()},
        weight.memory(),
        optional_memory(part_here(kept.numbers)),
        before.memory(),
        part(states, position).memory(),
        optional_memory(part_here(grad_output)),
        optional_memory(step == last ? grad_hidden : Tensor()),
        optional_memory(next_gates),
        optional_memory(of_state),
        gates.memory(),
        optional_memory(is_gru ? part(of_input_gates, position) : Tensor())});
    next_gates = gates;
  }
  const Tensor of_hidden = is_gru ? of_state : empty_like(layer.hidden);
  multiply_into(of_hidden, next_gates, weight, 1, is_gru ? 1 : 0);
  return {of_input_gates, of_hidden,
          needs_weight ? weight_gradient(layer, output, of_gates) : Tensor(),
          needs_bias ? math::sum_to(of_gates, layer.bias.shape()) : Tensor(),
          is_gru ? Tensor() : of_state};
}

// ---------------------------------------------------------------- the ops

void check_layer(std::string_view op, const RecurrentLayer& layer) {
  const std::int64_t gates = gates_of(layer.cell);
  check(layer.input_gates.ndim() == 3 && layer.hidden.ndim() == 2, ErrorCode::kShapeMismatch, op,
        "expected gates [steps, batch, ", gates, " * size] and a hidden state [batch, size], got ",
        "shapes ", layer.input_gates.shape(), " and ", layer.hidden.shape(), '.');
  check(is_floating(layer.hidden.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected float32 or float64, got ", layer.hidden.dtype(), '.');
  const std::int64_t columns = gates * layer.width();
  const bool fits = layer.input_gates.shape() == Shape{layer.steps(), layer.rows(), columns} &&
                    layer.weight.shape() == Shape{columns, layer.width()} &&
                    (!layer.bias.defined() || layer.bias.shape() == Shape{columns});
  check(fits && layer.steps() > 0, ErrorCode::kShapeMismatch, op,
        "the shapes of the gates, hidden state and weight do not match: ",
        layer.input_gates.shape(), ", ", layer.hidden.shape(), " and ", layer.weight.shape(), '.');
  if (!layer.state.defined()) return;
  check(layer.state.shape() == layer.hidden.shape(), ErrorCode::kShapeMismatch, op,
        "expected a state of shape ", layer.hidden.shape(), ", that of the hidden state, got ",
        layer.state.shape(), '.');
}

bool can_fuse(const RecurrentLayer& layer) {
  const Tensor& hidden = layer.hidden;
  const auto fits = [&](const Tensor& t) {
    return !t.defined() || (t.device() == hidden.device() && t.dtype() == hidden.dtype());
  };
  return hidden.numel() > 0 && fits(layer.input_gates) && fits(layer.weight) && fits(layer.bias) &&
         fits(layer.state);
}

template <class Op>
TensorList steps_of(const RecurrentLayer& layer, const typename Op::Attrs& attrs) {
  check_layer(Op::doc.name, layer);
  if (!can_fuse(layer)) return composed_steps(layer);
  const TensorList operands = layer.operands();
  Kept kept;
  const TensorList results =
      fused_steps(layer, should_record(operands) || any_has_tangent(operands), kept);
  // The prefix of these that has Op::saved_names.
  const std::array<Save, 8> saves{{{layer.input_gates},
                                   {layer.hidden},
                                   {layer.weight},
                                   {layer.bias},
                                   {results[0], true},
                                   {kept.numbers},
                                   {layer.state},
                                   {kept.states}}};
  record_function(results, operands, NodeMaker::of<Op>(attrs),
                  std::span(saves).first(Op::saved_names.size()));
  return results;
}

template <class Op>
GradList gradients_of(const Backward<Op>& b, RecurrentCell cell) {
  constexpr std::size_t kSaved = Op::saved_names.size();
  const auto saved = [&](std::size_t i) { return i < kSaved ? b.saved(i) : Tensor(); };
  const RecurrentLayer layer{cell,     b.attrs().reverse, saved(0), saved(1),
                             saved(2), saved(3),          saved(6)};
  const RecurrentGrads grads{b.grad(0), b.grad(1), layer.state.defined() ? b.grad(2) : Tensor()};
  GradList result =
      ops_are_differentiated()
          ? composed_gradients(layer, grads)
          : fused_gradients(layer, {saved(5), saved(7)}, saved(4), grads, b.needs(2), b.needs(3));
  if (!layer.state.defined()) result.pop_back();
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!b.needs(i)) result[i] = {};
  return result;
}

RecurrentCell cell_of(Nonlinearity nonlinearity) {
  return nonlinearity == Nonlinearity::kTanh ? RecurrentCell::kTanh : RecurrentCell::kRelu;
}

}  // namespace

TensorList LstmSteps::call(const Tensor& input_gates, const Tensor& hidden, const Tensor& state,
                           const Tensor& weight, const std::optional<Tensor>& bias, bool reverse) {
  return steps_of<LstmSteps>(
      {RecurrentCell::kLstm, reverse, input_gates, hidden, weight, bias.value_or(Tensor()), state},
      {reverse});
}

GradList LstmSteps::backward(const Backward<LstmSteps>& b) {
  return gradients_of(b, RecurrentCell::kLstm);
}

TensorList GruSteps::call(const Tensor& input_gates, const Tensor& hidden, const Tensor& weight,
                          const std::optional<Tensor>& bias, bool reverse) {
  return steps_of<GruSteps>({RecurrentCell::kGru, reverse, input_gates, hidden, weight,
                             bias.value_or(Tensor()), Tensor()},
                            {reverse});
}

GradList GruSteps::backward(const Backward<GruSteps>& b) {
  return gradients_of(b, RecurrentCell::kGru);
}

TensorList RnnSteps::call(const Tensor& input_gates, const Tensor& hidden, const Tensor& weight,
                          const std::optional<Tensor>& bias, Nonlinearity nonlinearity,
                          bool reverse) {
  return steps_of<RnnSteps>({cell_of(nonlinearity), reverse, input_gates, hidden, weight,
                             bias.value_or(Tensor()), Tensor()},
                            {nonlinearity, reverse});
}

GradList RnnSteps::backward(const Backward<RnnSteps>& b) {
  return gradients_of(b, cell_of(b.attrs().nonlinearity));
}

}  // namespace eg
