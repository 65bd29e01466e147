#pragma once

// The steps of recurrent layers. All arrays are packed and hold floats.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// What a step computes from the gates; kTanh and kRelu are those of an RNN.
enum class RecurrentCell : std::uint8_t { kLstm, kGru, kTanh, kRelu };

/// The number of gates; the weight has one row per gate and unit of the state.
constexpr std::int64_t gates_of(RecurrentCell cell) {
  if (cell == RecurrentCell::kLstm) return 4;
  return cell == RecurrentCell::kGru ? 3 : 1;
}

/// How many numbers for every unit of the state a step keeps for its gradient.
constexpr std::int64_t kept_of(RecurrentCell cell) { return gates_of(cell) > 1 ? 4 : 0; }

/// What all steps of a layer have in common: `rows` states of `width`.
struct RecurrentSizes {
  RecurrentCell cell;
  std::int64_t rows;
  std::int64_t width;
};

/// One step of a recurrent layer: the functions of input_gates and of hidden weightᵀ +
/// bias. The gates are input, forget, candidate and output for LSTM, and reset, update and
/// candidate for GRU.
struct RecurrentStep {
  static constexpr std::string_view name = "recurrent_step";
  RecurrentSizes sizes;
  In input_gates;  ///< [rows, gates * width]
  In hidden;
  In weight;         ///< [gates * width, width]
  OptionalIn bias;   ///< [gates * width]
  OptionalIn state;  ///< of LSTM
  /// [rows, 4 * width]. LSTM: all gates, after their functions. GRU: reset, update, the hidden part
  /// of the candidate, the candidate.
  OptionalOut kept;
  OptionalOut next_state;  ///< of LSTM; may be the same memory as `state`
  Out next_hidden;

  void compute_on_cpu() const;
};

/// The gradient of RecurrentStep. The state of GRU and RNN is the hidden state.
struct RecurrentStepBackward {
  static constexpr std::string_view name = "recurrent_step_backward";
  RecurrentSizes sizes;
  In weight;
  OptionalIn kept;
  In state;
  In next_state;
  /// The gradient of the next hidden state is the sum of these: that of the output of this step,
  /// that of the last hidden state, and the product of the next step's `grad_gates` with the
  /// weight.
  OptionalIn grad_output;
  OptionalIn grad_hidden;
  OptionalIn next_grad_gates;
  /// What reaches states without the weight, for LSTM and GRU. On entry, a gradient of the next
  /// state; on return, of the state.
  OptionalOut grad_state;
  /// The gradient of hidden weightᵀ + bias and, except for GRU, of `input_gates`.
  Out grad_gates;
  OptionalOut grad_input_gates;  ///< for GRU

  void compute_on_cpu() const;
};

using RecurrentKernels = TypeList<RecurrentStep, RecurrentStepBackward>;

}  // namespace eg::kernel
