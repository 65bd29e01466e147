#pragma once

// The part of a recurrent step that is not a product. All arrays are of floats and lie packed.

#include <cstdint>
#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

/// A step of long short-term memory for `rows` states of `width`. `gates` has the parts input,
/// forget, candidate and output of every row: the hidden state's share before, and after it, with
/// the input's share added, what the gates are. `next_state` may be `state`.
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

/// Its gradient. `grad_state` is that of the next state before, and of the state after it.
struct LstmCellBackward {
  static constexpr std::string_view name = "lstm_cell_backward";
  std::int64_t rows;
  std::int64_t width;
  In gates;
  In state;
  In next_state;
  /// Parts of the gradient of the hidden state, which is their sum.
  OptionalIn grad_output;
  OptionalIn grad_hidden;
  Out grad_state;
  /// Of the gates before their functions.
  Out grad_gates;

  void compute_on_cpu() const;
};

using RecurrentKernels = TypeList<LstmCell, LstmCellBackward>;

}  // namespace eg::kernel
