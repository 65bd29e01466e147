#include "backend/cpu/nn/conv_pass.h"

#include <algorithm>

namespace eg::cpu {
namespace {

using kernel::Convolution;

// The gradient at every stride-th input position, expressed as a convolution of the output
// gradient. Its taps are those with the same remainder modulo the stride as the position (including
// padding), in reverse order.
struct InputAxis {
  InputAxis(const Convolution& conv, std::size_t d, std::int64_t first_position);

  ConvAxis axis;
  std::int64_t first_tap = 0;
  std::int64_t tap_step = 1;
};

InputAxis::InputAxis(const Convolution& conv, std::size_t d, std::int64_t first_position) {
  const std::int64_t stride = conv.stride[d];
  const std::int64_t remainder = (first_position + conv.padding[d]) % stride;
  const std::int64_t dilation = conv.dilation[d];
  std::int64_t taps = 0;
  std::int64_t reach = 0;
  for (std::int64_t tap = 0; tap < conv.kernel[d]; ++tap) {
    if (tap * dilation % stride != remainder) continue;
    if (taps > 0) tap_step = tap - first_tap;
    first_tap = tap;
    reach = tap * dilation / stride;
    ++taps;
  }
  axis = {.taps = taps,
          .tap_step = tap_step * dilation / stride,
          .positions = (conv.in[d] - first_position + stride - 1) / stride,
          .position_step = 1,
          .first = (first_position + conv.padding[d]) / stride - reach,
          .size = conv.out[d]};
  axis.tap_step = std::max<std::int64_t>(1, axis.tap_step);
}

std::int64_t group_weights(const Convolution& conv) {
  return conv.out_channels / conv.groups * (conv.in_channels / conv.groups) * conv.kernel[0] *
         conv.kernel[1];
}

ConvAxis out_axis(const Convolution& conv, std::size_t d) {
  return {.taps = conv.kernel[d],
          .tap_step = conv.dilation[d],
          .positions = conv.out[d],
          .position_step = conv.stride[d],
          .first = -conv.padding[d],
          .size = conv.in[d]};
}

}  // namespace

ConvPass result_pass(const Convolution& conv) {
  const std::int64_t in_channels = conv.in_channels / conv.groups;
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  return {.batch = conv.batch,
          .groups = conv.groups,
          .rows = out_axis(conv, 0),
          .columns = out_axis(conv, 1),
          .in_channels = in_channels,
          .out_channels = conv.out_channels / conv.groups,
          .first_weight = 0,
          .weight_strides = {in_channels * taps, taps, conv.kernel[1], 1},
          .group_weights = group_weights(conv),
          .to_first = 0,
          .to_row_step = conv.out[1],
          .to_column_step = 1,
          .to_size = conv.out[0] * conv.out[1]};
}

ConvPass input_pass(const Convolution& conv, std::int64_t first_row, std::int64_t first_column) {
  const std::int64_t in_channels = conv.in_channels / conv.groups;
  const std::int64_t taps = conv.kernel[0] * conv.kernel[1];
  const InputAxis rows(conv, 0, first_row);
  const InputAxis columns(conv, 1, first_column);
  return {.batch = conv.batch,
          .groups = conv.groups,
          .rows = rows.axis,
          .columns = columns.axis,
          .in_channels = conv.out_channels / conv.groups,
          .out_channels = in_channels,
          .first_weight = rows.first_tap * conv.kernel[1] + columns.first_tap,
          .weight_strides = {taps, in_channels * taps, -rows.tap_step * conv.kernel[1],
                             -columns.tap_step},
          .group_weights = group_weights(conv),
          .to_first = first_row * conv.in[1] + first_column,
          .to_row_step = conv.stride[0] * conv.in[1],
          .to_column_step = conv.stride[1],
          .to_size = conv.in[0] * conv.in[1]};
}

}  // namespace eg::cpu
