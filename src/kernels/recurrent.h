#pragma once

// The steps of recurrent layers. All arrays are packed and hold floats.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// One LSTM step for `rows` states of `width`: `gates` = input_gates + hidden weightᵀ + bias, then
/// their functions. Each row of gates has the parts input, forget, candidate and output; what is
/// left there has been activated. `next_state` may be the same memory as `state`.
struct LstmStep {
  static constexpr std::string_view name = "lstm_step";
  std::int64_t rows;
  std::int64_t width;
  In input_gates;
  In hidden;
  In weight;        ///< [4 width, width]
  OptionalIn bias;  ///< [4 width]
  In state;
  Out gates;
  Out next_state;
  Out next_hidden;

  void compute_on_cpu() const;
};

/// The gradient of LstmStep. On entry, `grad_state` is the gradient of the next state; on return,
/// that of the state.
struct LstmStepBackward {
  static constexpr std::string_view name = "lstm_step_backward";
  std::int64_t rows;
  std::int64_t width;
  In weight;
  In gates;
  In state;
  In next_state;
  /// The gradient of the hidden state is the sum of these: that of the output of this step, that of
  /// the last hidden state, and the product of the next step's `grad_gates` with the weight.
  OptionalIn grad_output;
  OptionalIn grad_hidden;
  OptionalIn next_grad_gates;
  Out grad_state;
  /// The gradient of the gates before their activation functions.
  Out grad_gates;

  void compute_on_cpu() const;
};

using RecurrentKernels = TypeList<LstmStep, LstmStepBackward>;

}  // namespace eg::kernel
