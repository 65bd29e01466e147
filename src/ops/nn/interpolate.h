#pragma once

// Resampling. Along one dimension every position of the result depends on a few positions of the
// input, so a tensor is resampled dimension by dimension from slices selected by index, times
// weights.

#include "dispatch/function_op.h"

namespace eg {

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
                               "Resamples the dimensions after the channels to size or by "
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

using InterpolateOps = TypeList<Interpolate>;

}  // namespace eg
