#pragma once

// The part of a recurrent step that is not a matrix product. All arrays are packed and hold floats.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// One LSTM step for `rows` states of `width`. Each row of `gates` has the parts input, forget,
/// candidate and output. On entry, `gates` holds the contribution of the hidden state; the kernel
/// adds the contribution of the input and leaves the activated gates. `next_state` may be the same
/// memory as `state`.
struct LstmCell {
  static constexpr std::string_view name = "lstm_cell";
  std::int64_t rows;
  std::int64_t width;
  In input_gates;
  Out gates;
  In state;
  Out next_state;
  Out hidden;

  void compute_on_cpu() const;
};

/// The gradient of LstmCell. On entry, `grad_state` is the gradient of the next state; on return,
/// that of the state.
struct LstmCellBackward {
  static constexpr std::string_view name = "lstm_cell_backward";
  std::int64_t rows;
  std::int64_t width;
  In gates;
  In state;
  In next_state;
  /// The gradient of the hidden state is the sum of these two.
  OptionalIn grad_output;
  OptionalIn grad_hidden;
  Out grad_state;
  /// The gradient of the gates before their activation functions.
  Out grad_gates;

  void compute_on_cpu() const;
};

using RecurrentKernels = TypeList<LstmCell, LstmCellBackward>;

}  // namespace eg::kernel
