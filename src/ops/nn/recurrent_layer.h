#pragma once

#include <optional>

#include "autograd/graph/node.h"
#include "kernels/recurrent.h"
#include "tensor/tensor.h"

namespace eg {

/// The operands of all steps of a recurrent layer in one direction.
struct RecurrentLayer {
  kernel::RecurrentCell cell;
  bool reverse;
  Tensor input_gates;  ///< [steps, rows, gates * width]
  Tensor hidden;       ///< [rows, width]
  Tensor weight;       ///< [gates * width, width]
  Tensor bias;         ///< [gates * width], or undefined
  Tensor state;        ///< [rows, width] for LSTM, otherwise undefined

  /// The operands in the order in which their gradients are computed.
  TensorList operands() const {
    TensorList list{input_gates, hidden, weight, bias};
    if (cell == kernel::RecurrentCell::kLstm) list.push_back(state);
    return list;
  }
  std::int64_t steps() const { return input_gates.size(0); }
  std::int64_t rows() const { return hidden.size(0); }
  std::int64_t width() const { return hidden.size(1); }
  /// The position of a step in the sequence.
  std::int64_t position(std::int64_t step) const { return reverse ? steps() - 1 - step : step; }
};

/// The gradients of the results of a layer; undefined for zero.
struct RecurrentGrads {
  Tensor output;
  Tensor hidden;
  Tensor state;
};

/// All outputs, the last hidden state and, for LSTM, the last state, composed of ops.
TensorList composed_steps(const RecurrentLayer& layer);

/// The gradients of the operands, composed of ops: computes the steps again and goes back through
/// them.
GradList composed_gradients(const RecurrentLayer& layer, const RecurrentGrads& grads);

}  // namespace eg
