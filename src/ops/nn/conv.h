#pragma once

// Convolutions. The input has a batch, channels and one or two spatial dims, or no batch; a weight
// has [out channels, in channels / groups, kernel...], that of a transposed convolution
// [in channels, out channels / groups, kernel...]. One spatial dim is computed as two, the first of
// size one.

#include "dispatch/function_op.h"

namespace eg {

struct Conv1d {
  static constexpr op::Doc doc{"conv1d", "Convolution over the last dim."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"input"},       Arg{"weight"},       Arg{"bias", "null"},
                                   Arg{"stride", "1"}, Arg{"padding", "0"}, Arg{"dilation", "1"},
                                   Arg{"groups", "1"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([2, 3, 8]), T([4, 3, 3]), T([4])", "T([1, 4, 9]), T([4, 2, 3]), null, 2, 1, 1, 2",
      "T([2, 5]), T([3, 2, 2]), T([3]), 1, 'same'", "T([2, 2, 6]), T([1, 2, 2]), null, 1, 0, 3"};
  static Tensor call(const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias = {}, const Dims& stride = {1},
                     const Padding& padding = {{}, {0}}, const Dims& dilation = {1},
                     std::int64_t groups = 1);
};

struct Conv2d {
  static constexpr op::Doc doc{"conv2d", "Convolution over the last two dims."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args = Conv1d::args;
  static constexpr std::array<std::string_view, 7> samples{
      "T([2, 3, 5, 5]), T([4, 3, 3, 3]), T([4])",
      "T([1, 2, 7, 6]), T([4, 1, 3, 2]), T([4]), 2, 1, 1, 2",
      "T([1, 2, 6, 6]), T([3, 2, 3, 3]), null, 1, 2, 2",
      "T([2, 4, 5]), T([3, 2, 2, 3]), T([3]), 1, 'same'",
      "T([2, 3, 3, 2]), T([2, 3, 1, 1]), T([2])",
      "T([1, 2, 5, 6]), T([2, 2, 2, 3]), null, [1, 2], [0, 2], [2, 1]",
      "T([1, 2, 4, 4]), T([2, 1, 2, 2]), null, 3, 'valid', 1, 2"};
  static Tensor call(const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias = {}, const Dims& stride = {1},
                     const Padding& padding = {{}, {0}}, const Dims& dilation = {1},
                     std::int64_t groups = 1);
};

struct ConvTranspose1d {
  static constexpr op::Doc doc{"conv_transpose1d",
                               "Transposed convolution over the last dim: the input gradient of "
                               "conv1d."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"input"},        Arg{"weight"},
                                   Arg{"bias", "null"}, Arg{"stride", "1"},
                                   Arg{"padding", "0"}, Arg{"output_padding", "0"},
                                   Arg{"groups", "1"},  Arg{"dilation", "1"}};
  static constexpr std::array<std::string_view, 2> samples{
      "T([1, 3, 4]), T([3, 2, 3]), T([2]), 2, 1, 1",
      "T([4, 3]), T([4, 1, 2]), null, 1, 0, 0, 2, 2"};
  static Tensor call(const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias = {}, const Dims& stride = {1},
                     const Dims& padding = {0}, const Dims& output_padding = {0},
                     std::int64_t groups = 1, const Dims& dilation = {1});
};

struct ConvTranspose2d {
  static constexpr op::Doc doc{"conv_transpose2d",
                               "Transposed convolution over the last two dims: the input gradient "
                               "of conv2d."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args = ConvTranspose1d::args;
  static constexpr std::array<std::string_view, 3> samples{
      "T([1, 3, 4, 4]), T([3, 2, 3, 3]), T([2]), 2, 1",
      "T([2, 4, 2, 3]), T([4, 2, 2, 3]), T([4]), [2, 1], 0, [1, 0], 2, [2, 1]",
      "T([3, 2, 2]), T([3, 2, 1, 1])"};
  static Tensor call(const Tensor& input, const Tensor& weight,
                     const std::optional<Tensor>& bias = {}, const Dims& stride = {1},
                     const Dims& padding = {0}, const Dims& output_padding = {0},
                     std::int64_t groups = 1, const Dims& dilation = {1});
};

using ConvOps = TypeList<Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d>;

}  // namespace eg
