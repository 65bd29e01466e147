#pragma once

// Matrices of few bits. They are not trained themselves: a product has a gradient of its input, in
// which the numbers of the matrix exist only block by block, as in the product itself. Where scales
// are differentiated, and for other dtypes than float32, the same formula is composed of ops.

#include "dispatch/function_op.h"

namespace eg {

struct Quantize {
  static constexpr op::Doc doc{
      "quantize",
      "The codes of 4 or 8 bits and the scales by which dequantize comes closest to a matrix; "
      "groupSize columns of a row (default: all) share a scale. Has no gradient."};
  static constexpr std::array args{Arg{"input"}, Arg{"bits", "8"}, Arg{"group_size", "null"}};
  static constexpr std::array<std::string_view, 2> results{"codes", "scale"};
  static constexpr std::array<std::string_view, 3> samples{"T([3, 5])", "T([2, 4]), 4",
                                                           "T([2, 40]), 4, 32"};
  // Codes are integers, and an element that is not the largest of its group does not change a
  // scale.
  static constexpr bool ignores_nan = true;
  static constexpr bool spreads_nan = true;
  static TensorList call(const Tensor& input, std::int64_t bits = 8,
                         std::optional<std::int64_t> group_size = {});
};

struct Dequantize {
  static constexpr op::Doc doc{
      "dequantize",
      "The numbers of a matrix of 4 or 8 bits: (code - 2^(bits - 1)) * scale, where groupSize "
      "columns of a row (default: all) share a scale; with 4 bits a byte has two columns, the "
      "lower bits first."};
  static constexpr std::array args{Arg{"input"}, Arg{"scale"}, Arg{"bits", "8"},
                                   Arg{"group_size", "null"}};
  static constexpr std::array<std::string_view, 3> samples{
      "Q([3, 4]), T([3, 1])", "Q([2, 2]), T([2, 1]), 4", "Q([2, 20]), T([2, 2]), 4, 32"};
  static Tensor call(const Tensor& input, const Tensor& scale, std::int64_t bits = 8,
                     std::optional<std::int64_t> group_size = {});
};

struct QuantizedLinear {
  static constexpr op::Doc doc{
      "quantized_linear",
      "linear with a weight that dequantize describes, whose numbers exist only block by block."};
  static constexpr std::array args{Arg{"input"},     Arg{"weight"},
                                   Arg{"scale"},     Arg{"bias", "null"},
                                   Arg{"bits", "8"}, Arg{"group_size", "null"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([2, 5]), Q([4, 5]), T([4, 1])", "T([3]), Q([2, 2]), T([2, 1]), T([2]), 4",
      "T([2, 1, 40]), Q([3, 20]), T([3, 2]), T([3]), 4, 32",
      "T([1, 33]), Q([2, 33]), T([2, 2]), null, 8, 32"};
  static constexpr bool spreads_nan = true;
  static Tensor call(const Tensor& input, const Tensor& weight, const Tensor& scale,
                     const std::optional<Tensor>& bias = {}, std::int64_t bits = 8,
                     std::optional<std::int64_t> group_size = {});
};

/// linear with a weight of half precision that is not differentiated, by the same kernel: no
/// float32 copy of the weight. Returns nothing for other operands.
std::optional<Tensor> linear_of_halves(const Tensor& input, const Tensor& weight,
                                       const std::optional<Tensor>& bias);

using QuantizedOps = TypeList<Quantize, Dequantize, QuantizedLinear>;

}  // namespace eg
