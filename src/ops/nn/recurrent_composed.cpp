#include <algorithm>
#include <array>
#include <vector>

#include "autograd/tensor_math.h"
#include "dispatch/var.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/matrix_product.h"
#include "ops/nn/recurrent_layer.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using kernel::RecurrentCell;

struct States {
  Var hidden = 0;
  Var state = 0;  // of LSTM
};

// The results of one step, with the intermediate values that a kernel would save for backward.
struct Step {
  States next;
  std::array<Var, 4> kept{0, 0, 0, 0};
};

// Gates side by side.
struct Gates {
  Var all;
  std::int64_t width;

  Var operator()(std::int64_t i) const { return Narrow::call(all, -1, i * width, width); }
};

// ---------------------------------------------------------------- one step of each cell

Step lstm_step(const Gates& sum, const Var& state) {
  const Var input = sigmoid(sum(0));
  const Var forget = sigmoid(sum(1));
  const Var candidate = tanh(sum(2));
  const Var output = sigmoid(sum(3));
  const Var next = forget * state + input * candidate;
  return {{output * tanh(next), next}, {input, forget, candidate, output}};
}

Step gru_step(const Gates& input, const Gates& hidden, const Var& before) {
  const Var reset = sigmoid(input(0) + hidden(0));
  const Var update = sigmoid(input(1) + hidden(1));
  const Var hidden_part = hidden(2);
  const Var candidate = tanh(input(2) + reset * hidden_part);
  return {{(before - candidate) * update + candidate}, {reset, update, hidden_part, candidate}};
}

// The gradients of one step, from those of its results.
struct StepGrads {
  Var gates;        // of the part of the hidden state
  Var input_gates;  // of the part of the input
  States states;    // what reaches the states without the weight
};

Var joined(const std::vector<Var>& gates) {
  TensorList parts;
  for (const Var& gate : gates) parts.push_back(gate);
  return Cat::call(parts, -1);
}

StepGrads lstm_grads(const Step& step, const States& before, const States& grads) {
  const auto& [input, forget, candidate, output] = step.kept;
  const Var shown = tanh(step.next.state);
  const Var of_next = grads.state + grads.hidden * output * (1 - shown * shown);
  const Var gates = joined({of_next * candidate * (input * (1 - input)),
                            of_next * before.state * (forget * (1 - forget)),
                            of_next * input * (1 - candidate * candidate),
                            grads.hidden * shown * (output * (1 - output))});
  return {gates, gates, {0, of_next * forget}};
}

StepGrads gru_grads(const Step& step, const States& before, const States& grads) {
  const auto& [reset, update, hidden_part, candidate] = step.kept;
  const Var g = grads.hidden;
  const Var of_candidate = g * (1 - update) * (1 - candidate * candidate);
  const Var of_reset = of_candidate * hidden_part * (reset * (1 - reset));
  const Var of_update = g * (before.hidden - candidate) * (update * (1 - update));
  return {joined({of_reset, of_update, of_candidate * reset}),
          joined({of_reset, of_update, of_candidate}),
          {g * update, 0}};
}

StepGrads rnn_grads(RecurrentCell cell, const Step& step, const States& grads) {
  const Var y = step.next.hidden;
  const Var gates =
      cell == RecurrentCell::kTanh ? grads.hidden * (1 - y * y) : where(y <= 0, 0, grads.hidden);
  return {gates, gates, {}};
}

// ---------------------------------------------------------------- all steps

Step step_of(const RecurrentLayer& layer, std::int64_t step, const States& before) {
  const std::optional<Tensor> bias =
      layer.bias.defined() ? std::optional(layer.bias) : std::nullopt;
  const Var input = Select::call(layer.input_gates, 0, layer.position(step));
  const Var hidden = Linear::call(before.hidden, layer.weight, bias);
  const std::int64_t width = layer.width();
  switch (layer.cell) {
    case RecurrentCell::kLstm:
      return lstm_step({input + hidden, width}, before.state);
    case RecurrentCell::kGru:
      return gru_step({input, width}, {hidden, width}, before.hidden);
    case RecurrentCell::kTanh:
      return {{tanh(input + hidden)}};
    case RecurrentCell::kRelu: {
      const Var sum = input + hidden;
      return {{where(sum <= 0, 0, sum)}};
    }
  }
  return {};
}

StepGrads grads_of(const RecurrentLayer& layer, const Step& step, const States& before,
                   const States& grads) {
  if (layer.cell == RecurrentCell::kLstm) return lstm_grads(step, before, grads);
  if (layer.cell == RecurrentCell::kGru) return gru_grads(step, before, grads);
  return rnn_grads(layer.cell, step, grads);
}

std::vector<Step> steps_of(const RecurrentLayer& layer) {
  std::vector<Step> steps;
  States states{layer.hidden, layer.state};
  for (std::int64_t step = 0; step < layer.steps(); ++step) {
    steps.push_back(step_of(layer, step, states));
    states = steps.back().next;
  }
  return steps;
}

// Stacks tensors of the steps in the order of the sequence.
Tensor stacked(const RecurrentLayer& layer, TensorList steps) {
  if (layer.reverse) std::reverse(steps.begin(), steps.end());
  return Stack::call(steps, 0);
}

TensorList results(const Tensor& output, const States& last) {
  TensorList list{output, last.hidden};
  if (!last.state.is_number()) list.push_back(last.state);
  return list;
}

}  // namespace

TensorList composed_steps(const RecurrentLayer& layer) {
  // Without elements all steps are the same, so one is computed and expanded to their number.
  if (layer.hidden.numel() == 0) {
    const States last = step_of(layer, 0, {layer.hidden, layer.state}).next;
    return results(Expand::call(last.hidden, {layer.steps(), layer.rows(), layer.width()}), last);
  }
  const std::vector<Step> steps = steps_of(layer);
  TensorList outputs;
  for (const Step& step : steps) outputs.push_back(step.next.hidden);
  return results(stacked(layer, outputs), steps.back().next);
}

GradList composed_gradients(const RecurrentLayer& layer, const RecurrentGrads& grads) {
  const std::vector<Step> steps = steps_of(layer);
  const auto or_zero = [](const Tensor& t) { return t.defined() ? Var(t) : 0; };
  States of_states{or_zero(grads.hidden), or_zero(grads.state)};
  Var of_weight = 0;
  TensorList of_input_gates;
  TensorList of_gates;
  for (std::int64_t i = layer.steps() - 1; i >= 0; --i) {
    const States before =
        i == 0 ? States{layer.hidden, layer.state} : steps[static_cast<std::size_t>(i - 1)].next;
    if (grads.output.defined()) {
      of_states.hidden = of_states.hidden + Select::call(grads.output, 0, layer.position(i));
    }
    const StepGrads found = grads_of(layer, steps[static_cast<std::size_t>(i)], before, of_states);
    const Tensor& gates = found.gates;
    of_gates.push_back(gates);
    of_input_gates.push_back(found.input_gates);
    of_weight = of_weight + matmul(transposed(gates), before.hidden);
    of_states = {found.states.hidden + matmul(gates, layer.weight), found.states.state};
  }
  std::reverse(of_input_gates.begin(), of_input_gates.end());
  const Tensor of_bias =
      layer.bias.defined() ? math::sum_to(Stack::call(of_gates, 0), layer.bias.shape()) : Tensor();
  return {stacked(layer, of_input_gates), of_states.hidden, of_weight, of_bias, of_states.state};
}

}  // namespace eg
