#pragma once

// All steps of a recurrent layer as one op. On the CPU each step is a matrix product and a kernel,
// and backward computes the gradient of the weight with one product over all steps.

#include "dispatch/function_op.h"

namespace eg {

/// The activation function of an RNN.
enum class Nonlinearity : std::uint8_t { kTanh, kRelu };
constexpr std::array<std::string_view, 2> enum_names(Nonlinearity) { return {"tanh", "relu"}; }

struct LstmSteps {
  static constexpr op::Doc doc{
      "lstm_steps",
      "All steps of an LSTM layer in one direction, from the input's part of the gates, "
      "[steps, batch, 4 * size]: all outputs, the last output and the last state."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input_gates"},  Arg{"hidden"},
                                   Arg{"state"},        Arg{"weight"},
                                   Arg{"bias", "null"}, Arg{"reverse", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 2, 12]), T([2, 3]), T([2, 3]), T([12, 3]), T([12]), false",
      "T([2, 1, 20]), T([1, 5]), T([1, 5]), T([20, 5]), null, true",
      "T([1, 2, 4]), T([2, 1]), T([2, 1]), T([4, 1]), T([4]), true"};
  static constexpr std::array<std::string_view, 3> results{"output", "hidden", "state"};
  static TensorList call(const Tensor& input_gates, const Tensor& hidden, const Tensor& state,
                         const Tensor& weight, const std::optional<Tensor>& bias, bool reverse);

  struct Attrs {
    bool reverse;
  };
  static constexpr std::array<std::string_view, 8> saved_names{
      "input_gates", "hidden", "weight", "bias", "output", "kept", "state", "states"};
  static GradList backward(const Backward<LstmSteps>& b);
};

struct GruSteps {
  static constexpr op::Doc doc{
      "gru_steps",
      "All steps of a GRU layer in one direction, from the input's part of the gates, "
      "[steps, batch, 3 * size]: all outputs and the last one."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input_gates"}, Arg{"hidden"}, Arg{"weight"},
                                   Arg{"bias", "null"}, Arg{"reverse", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 2, 9]), T([2, 3]), T([9, 3]), T([9]), false",
      "T([2, 1, 15]), T([1, 5]), T([15, 5]), null, true",
      "T([1, 2, 3]), T([2, 1]), T([3, 1]), T([3]), true"};
  static constexpr std::array<std::string_view, 2> results{"output", "hidden"};
  static TensorList call(const Tensor& input_gates, const Tensor& hidden, const Tensor& weight,
                         const std::optional<Tensor>& bias, bool reverse);

  struct Attrs {
    bool reverse;
  };
  static constexpr std::array<std::string_view, 6> saved_names{"input_gates", "hidden", "weight",
                                                               "bias",        "output", "kept"};
  static GradList backward(const Backward<GruSteps>& b);
};

struct RnnSteps {
  static constexpr op::Doc doc{
      "rnn_steps",
      "All steps of an RNN layer in one direction, from the input's part of the sums, "
      "[steps, batch, size]: all outputs and the last one."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"input_gates"},
                                   Arg{"hidden"},
                                   Arg{"weight"},
                                   Arg{"bias", "null"},
                                   Arg{"nonlinearity", "'tanh'"},
                                   Arg{"reverse", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 2, 3]), T([2, 3]), T([3, 3]), T([3]), 'tanh', false",
      "T([2, 1, 5]), T([1, 5]), T([5, 5]), null, 'relu', true",
      "T([1, 2, 1]), T([2, 1]), T([1, 1]), T([1]), 'tanh', true"};
  static constexpr std::array<std::string_view, 2> results{"output", "hidden"};
  static TensorList call(const Tensor& input_gates, const Tensor& hidden, const Tensor& weight,
                         const std::optional<Tensor>& bias, Nonlinearity nonlinearity,
                         bool reverse);

  struct Attrs {
    Nonlinearity nonlinearity;
    bool reverse;
  };
  static constexpr std::array<std::string_view, 5> saved_names{"input_gates", "hidden", "weight",
                                                               "bias", "output"};
  static GradList backward(const Backward<RnnSteps>& b);
};

using RecurrentOps = TypeList<LstmSteps, GruSteps, RnnSteps>;

}  // namespace eg
