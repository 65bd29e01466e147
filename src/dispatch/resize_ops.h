#pragma once

// Tensors made larger or smaller at their borders, and resampled. Along one dimension each of these
// reads, for every place of the result, a few places of the input; so all but constant padding are
// slices picked by index (times weights), dimension by dimension.

#include "dispatch/function_op.h"

namespace eg {

enum class PadMode : std::uint8_t { kConstant, kReflect, kReplicate, kCircular };
constexpr std::array<std::string_view, 4> enum_names(PadMode) {
  return {"constant", "reflect", "replicate", "circular"};
}

struct Pad {
  static constexpr op::Doc doc{
      "pad",
      "input with pad elements added before and after, from the last dimension on; negative pad "
      "removes."};
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

enum class InterpolateMode : std::uint8_t {
  kNearest,
  kLinear,
  kBilinear,
  kBicubic,
  kTrilinear,
  kNearestExact,
  kArea
};
constexpr std::array<std::string_view, 7> enum_names(InterpolateMode) {
  return {"nearest", "linear", "bilinear", "bicubic", "trilinear", "nearest-exact", "area"};
}

struct Interpolate {
  static constexpr op::Doc doc{"interpolate",
                               "Resamples the dimensions after the channels to size, or by "
                               "scaleFactor."};
  static constexpr bool spreads_nan = true;
  static constexpr std::array args{Arg{"input"},
                                   Arg{"size", "null"},
                                   Arg{"scale_factor", "null"},
                                   Arg{"mode", "'nearest'"},
                                   Arg{"align_corners", "null"},
                                   Arg{"recompute_scale_factor", "null"}};
  static constexpr std::array<std::string_view, 9> samples{
      "T([1, 2, 3]), null, 2",
      "T([1, 2, 3, 3]), [5, 2]",
      "T([1, 2, 4]), 7, null, 'linear'",
      "T([1, 1, 3, 3]), null, [1.5, 2.5], 'bilinear'",
      "T([1, 1, 3, 2]), [5, 3], null, 'bilinear', true",
      "T([1, 1, 3, 3]), [4, 5], null, 'bicubic'",
      "T([1, 1, 5, 4]), [2, 3], null, 'area'",
      "T([1, 2, 5]), 3, null, 'area'",
      "T([1, 2, 3, 2, 3]), [2, 3, 2], null, 'area'"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& size = {},
                     const std::optional<Numbers>& scale_factor = {},
                     InterpolateMode mode = InterpolateMode::kNearest,
                     std::optional<bool> align_corners = {},
                     std::optional<bool> recompute_scale_factor = {});
};

using ResizeOps = TypeList<Pad, Interpolate>;

}  // namespace eg
