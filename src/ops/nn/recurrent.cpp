#include "ops/nn/recurrent.h"

#include <algorithm>
#include <vector>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "dispatch/var.h"
#include "kernels/matmul.h"
#include "kernels/recurrent.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

struct Layer {
  Tensor input_gates;
  Tensor hidden;
  Tensor state;
  Tensor weight;
  Tensor bias;  // undefined when there is none
  bool reverse;

  std::int64_t steps() const { return input_gates.size(0); }
  std::int64_t rows() const { return state.size(0); }
  std::int64_t width() const { return state.size(1); }
  /// The position of a step in the sequence.
  std::int64_t position(std::int64_t step) const { return reverse ? steps() - 1 - step : step; }
};

// Element `i` along the first dimension of a packed tensor, not recorded.
Tensor part(const Tensor& t, std::int64_t i, std::int64_t count = 1) {
  const std::int64_t size = t.strides()[0];
  return t.alias({count * t.size(1), t.size(2)}, {t.size(2), 1}, t.offset() + i * size);
}

// ---------------------------------------------------------------- composed of ops

struct Cell {
  Var input = 0;
  Var forget = 0;
  Var candidate = 0;
  Var output = 0;
  Var next = 0;
  Var hidden = 0;
};

Cell cell_of(const Layer& layer, std::int64_t step, const Tensor& hidden, const Tensor& state) {
  const std::optional<Tensor> bias =
      layer.bias.defined() ? std::optional(layer.bias) : std::nullopt;
  const Var gates = Var(Select::call(layer.input_gates, 0, layer.position(step))) +
                    Linear::call(hidden, layer.weight, bias);
  const auto gate = [&](std::int64_t i) -> Var {
    return Narrow::call(gates.tensor(), -1, i * layer.width(), layer.width());
  };
  Cell cell{sigmoid(gate(0)), sigmoid(gate(1)), tanh(gate(2)), sigmoid(gate(3))};
  cell.next = cell.forget * state + cell.input * cell.candidate;
  cell.hidden = cell.output * tanh(cell.next);
  return cell;
}

std::vector<Cell> cells_of(const Layer& layer) {
  std::vector<Cell> cells;
  Tensor hidden = layer.hidden;
  Tensor state = layer.state;
  for (std::int64_t step = 0; step < layer.steps(); ++step) {
    cells.push_back(cell_of(layer, step, hidden, state));
    hidden = cells.back().hidden.tensor();
    state = cells.back().next.tensor();
  }
  return cells;
}

// Stacks the results of the steps in the order of the sequence.
Tensor stacked(const Layer& layer, TensorList steps) {
  if (layer.reverse) std::reverse(steps.begin(), steps.end());
  return Stack::call(steps, 0);
}

// Without elements all steps are the same, so one is computed and expanded to their number.
TensorList empty_steps(const Layer& layer) {
  const Cell cell = cell_of(layer, 0, layer.hidden, layer.state);
  const Tensor output =
      Expand::call(cell.hidden.tensor(), {layer.steps(), layer.rows(), layer.width()});
  return {output, cell.hidden.tensor(), cell.next.tensor()};
}

TensorList composed_steps(const Layer& layer) {
  if (layer.state.numel() == 0) return empty_steps(layer);
  const std::vector<Cell> cells = cells_of(layer);
  TensorList outputs;
  for (const Cell& cell : cells) outputs.push_back(cell.hidden.tensor());
  return {stacked(layer, outputs), cells.back().hidden.tensor(), cells.back().next.tensor()};
}

struct LayerGrads {
  Tensor output;
  Tensor hidden;
  Tensor state;
};

// Computes the steps again and goes back through them.
GradList composed_gradients(const Layer& layer, const LayerGrads& grads) {
  const std::vector<Cell> cells = cells_of(layer);
  const auto or_zero = [](const Tensor& t) { return t.defined() ? Var(t) : Var(0); };
  Var grad_hidden = or_zero(grads.hidden);
  Var grad_state = or_zero(grads.state);
  Var grad_weight = 0;
  TensorList grad_gates;
  for (std::int64_t step = layer.steps() - 1; step >= 0; --step) {
    const auto& [input, forget, candidate, output, next, hidden] =
        cells[static_cast<std::size_t>(step)];
    const Cell* const before = step > 0 ? &cells[static_cast<std::size_t>(step - 1)] : nullptr;
    const Var hidden_before = before == nullptr ? Var(layer.hidden) : before->hidden;
    const Var state_before = before == nullptr ? Var(layer.state) : before->next;
    if (grads.output.defined()) {
      grad_hidden = grad_hidden + Select::call(grads.output, 0, layer.position(step));
    }
    const Var shown = tanh(next);
    const Var kept = grad_state + grad_hidden * output * (1 - shown * shown);
    const Tensor gates = Cat::call({(kept * candidate * (input * (1 - input))).tensor(),
                                    (kept * state_before * (forget * (1 - forget))).tensor(),
                                    (kept * input * (1 - candidate * candidate)).tensor(),
                                    (grad_hidden * shown * (output * (1 - output))).tensor()},
                                   -1);
    grad_gates.push_back(gates);
    grad_weight = grad_weight + Matmul::call(transposed(gates), hidden_before.tensor());
    grad_hidden = Matmul::call(gates, layer.weight);
    grad_state = kept * forget;
  }
  std::reverse(grad_gates.begin(), grad_gates.end());
  const Tensor all = stacked(layer, grad_gates);
  const Tensor grad_bias = layer.bias.defined() ? math::sum_to(all, layer.bias.shape()) : Tensor();
  return {all, grad_hidden.tensor(), grad_state.tensor(), grad_weight.tensor(), grad_bias};
}

// ---------------------------------------------------------------- with kernels

struct Kept {
  Tensor gates;   ///< of every step, after their functions
  Tensor states;  ///< after every step
};

TensorList fused_steps(const Layer& given, bool is_kept, Kept& kept) {
  const Layer layer{packed(given.input_gates), packed(given.hidden), packed(given.state),
                    packed(given.weight),      packed(given.bias),   given.reverse};
  const Tensor& state = layer.state;
  const auto empty = [&](const Shape& shape) {
    return Tensor::empty(shape, state.dtype(), state.device());
  };
  const std::int64_t rows = layer.rows();
  const std::int64_t width = layer.width();
  const std::int64_t steps_kept = is_kept ? layer.steps() : 1;
  kept = {empty({steps_kept, rows, 4 * width}), empty({steps_kept, rows, width})};
  const Tensor output = empty({layer.steps(), rows, width});
  Tensor hidden = layer.hidden;
  Tensor before = layer.state;
  for (std::int64_t step = 0; step < layer.steps(); ++step) {
    const std::int64_t position = layer.position(step);
    const Tensor gates = part(kept.gates, is_kept ? position : 0);
    const Tensor next = part(kept.states, is_kept ? position : 0);
    const Tensor next_hidden = part(output, position);
    run(kernel::LstmStep{rows, width, part(layer.input_gates, position).memory(), hidden.memory(),
                         layer.weight.memory(), optional_memory(layer.bias), before.memory(),
                         gates.memory(), next.memory(), next_hidden.memory()});
    hidden = next_hidden;
    before = next;
  }
  return {output, contiguous_copy(hidden), contiguous_copy(before)};
}

GradList fused_gradients(const Layer& layer, const Kept& kept, const Tensor& output,
                         const LayerGrads& grads, bool needs_weight, bool needs_bias) {
  const std::int64_t rows = layer.rows();
  const std::int64_t width = layer.width();
  const std::int64_t last = layer.steps() - 1;
  const Tensor grad_output = packed(grads.output);
  const Tensor initial_state = packed(layer.state);
  const auto empty_like = [](const Tensor& t) {
    return Tensor::empty(t.shape(), t.dtype(), t.device());
  };
  const Tensor grad_gates = empty_like(kept.gates);
  const Tensor grad_state =
      grads.state.defined() ? contiguous_copy(grads.state) : full_like(initial_state, 0);
  const Tensor weight = packed(layer.weight);
  const Tensor of_last_hidden = packed(grads.hidden);
  Tensor next_gates;
  for (std::int64_t step = last; step >= 0; --step) {
    const std::int64_t position = layer.position(step);
    const Tensor before = step == 0 ? initial_state : part(kept.states, layer.position(step - 1));
    const Tensor of_output = grad_output.defined() ? part(grad_output, position) : Tensor();
    const Tensor of_gates = part(grad_gates, position);
    run(kernel::LstmStepBackward{
        rows, width, weight.memory(), part(kept.gates, position).memory(), before.memory(),
        part(kept.states, position).memory(), optional_memory(of_output),
        optional_memory(step == last ? of_last_hidden : Tensor()), optional_memory(next_gates),
        grad_state.memory(), of_gates.memory()});
    next_gates = of_gates;
  }
  const Tensor grad_hidden = empty_like(initial_state);
  multiply_into(grad_hidden, next_gates, weight);
  GradList result{grad_gates, grad_hidden, grad_state, {}, {}};
  if (needs_weight) {
    const auto add_product = [&](const Tensor& gates, const Tensor& hidden, double beta) {
      multiply_into(result[3],
                    gates.alias({4 * width, gates.size(0)}, {1, 4 * width}, gates.offset()), hidden,
                    1, beta);
    };
    result[3] = Tensor::empty(layer.weight.shape(), output.dtype(), output.device());
    add_product(part(grad_gates, layer.position(0)), layer.hidden, 0);
    if (last > 0) {
      add_product(part(grad_gates, layer.reverse ? 0 : 1, last),
                  part(output, layer.reverse ? 1 : 0, last), 1);
    }
  }
  if (needs_bias) result[4] = math::sum_to(grad_gates, layer.bias.shape());
  return result;
}

void check_layer(const Layer& layer) {
  const std::int64_t rows = layer.rows();
  const std::int64_t width = layer.width();
  const bool fits = layer.input_gates.shape() == Shape{layer.steps(), rows, 4 * width} &&
                    layer.hidden.shape() == layer.state.shape() &&
                    layer.weight.shape() == Shape{4 * width, width} &&
                    (!layer.bias.defined() || layer.bias.shape() == Shape{4 * width});
  check(
      fits && layer.steps() > 0, ErrorCode::kShapeMismatch, LstmSteps::doc.name,
      "the shapes of the gates, hidden, state and weight do not match: ", layer.input_gates.shape(),
      ", ", layer.hidden.shape(), ", ", layer.state.shape(), " and ", layer.weight.shape(), '.');
}

bool can_fuse(const Layer& layer) {
  const auto fits = [&](const Tensor& t) {
    return !t.defined() || (t.device() == layer.state.device() && t.dtype() == layer.state.dtype());
  };
  return layer.state.numel() > 0 && fits(layer.state) && fits(layer.input_gates) &&
         fits(layer.hidden) && fits(layer.weight) && fits(layer.bias);
}

}  // namespace

TensorList LstmSteps::call(const Tensor& input_gates, const Tensor& hidden, const Tensor& state,
                           const Tensor& weight, const std::optional<Tensor>& bias, bool reverse) {
  check(input_gates.ndim() == 3 && state.ndim() == 2, ErrorCode::kShapeMismatch, doc.name,
        "expected gates [steps, batch, 4 * size] and a state [batch, size], got shapes ",
        input_gates.shape(), " and ", state.shape(), '.');
  check(is_floating(state.dtype()), ErrorCode::kDtypeMismatch, doc.name,
        "expected float32 or float64, got ", state.dtype(), '.');
  const Layer layer{input_gates, hidden, state, weight, bias.value_or(Tensor()), reverse};
  check_layer(layer);
  if (!can_fuse(layer)) return composed_steps(layer);
  const TensorList inputs{input_gates, hidden, state, weight, layer.bias};
  Kept kept;
  const TensorList outputs =
      fused_steps(layer, should_record(inputs) || any_has_tangent(inputs), kept);
  record<LstmSteps>(outputs, inputs, {reverse},
                    {{input_gates},
                     {hidden},
                     {state},
                     {weight},
                     {layer.bias},
                     {kept.gates},
                     {kept.states},
                     {outputs[0], true}});
  return outputs;
}

GradList LstmSteps::backward(const Backward<LstmSteps>& b) {
  const Layer layer{b.saved(0), b.saved(1), b.saved(2), b.saved(3), b.saved(4), b.attrs().reverse};
  const LayerGrads grads{b.grad(0), b.grad(1), b.grad(2)};
  GradList result = ops_are_differentiated()
                        ? composed_gradients(layer, grads)
                        : fused_gradients(layer, {b.saved(5), b.saved(6)}, b.saved(7), grads,
                                          b.needs(3), b.needs(4));
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!b.needs(i)) result[i] = {};
  return result;
}

}  // namespace eg
