#pragma once

// Adding and removing elements at the borders of tensors. Except for constant padding, slices are
// selected by index, dimension by dimension.

#include "dispatch/function_op.h"

namespace eg {

enum class PadMode : std::uint8_t { kConstant, kReflect, kReplicate, kCircular };
constexpr std::array<std::string_view, 4> enum_names(PadMode) {
  return {"constant", "reflect", "replicate", "circular"};
}

struct Pad {
  static constexpr op::Doc doc{
      "pad",
      "input with elements added before and after each dimension, as listed in pad from the last "
      "dimension on; negative numbers remove elements."};
  static constexpr std::array args{Arg{"input"}, Arg{"pad"}, Arg{"mode", "'constant'"},
                                   Arg{"value", "null"}};
  static constexpr std::array<std::string_view, 7> samples{
      "T([2, 3]), [1, 2]",
      "T([2, 3]), [1, 0, 2, 1], 'constant', 0.5",
      "T([3, 4]), [-1, 2, 0, -1]",
      "T([1, 2, 4, 4]), [1, 1, 2, 0], 'reflect'",
      "T([2, 3]), [2, 1], 'replicate'",
      "T([1, 3, 4]), [3, 2], 'circular'",
      "T([1, 2, 2, 3]), [1, 2, 1, 0], 'replicate'"};
  static Tensor call(const Tensor& input, const Dims& pad, PadMode mode = PadMode::kConstant,
                     std::optional<double> value = {});
};

using PadOps = TypeList<Pad>;

}  // namespace eg
