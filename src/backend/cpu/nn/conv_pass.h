#pragma once

// What a convolution and the gradient of its input have in common: both are plain convolutions,
// one or several, and what computes one (tile by tile, or by Winograd's way) need not know which of
// the two it serves.

#include <array>
#include <cstdint>

#include "backend/cpu/nn/conv_planes.h"
#include "kernels/conv.h"

namespace eg::cpu {

/// A convolution is one of these, and the gradient of its input one for every remainder of a row
/// and a column by the stride: places with the same remainder read the same taps.
struct ConvPass {
  std::int64_t batch;
  std::int64_t groups;
  ConvAxis rows;
  ConvAxis columns;
  // Channels of a group that are read and made.
  std::int64_t in_channels;
  std::int64_t out_channels;
  // The weight of made channel o, read channel i and tap (y, x) is at o * [0] + i * [1] + y * [2] +
  // x * [3] from the first.
  std::int64_t first_weight;
  std::array<std::int64_t, 4> weight_strides;
  std::int64_t group_weights;  ///< weights of a group
  // Place (y, x) of a channel goes to first + y * row_step + x * column_step.
  std::int64_t to_first;
  std::int64_t to_row_step;
  std::int64_t to_column_step;
  std::int64_t to_size;

  std::int64_t depth() const { return rows.taps * columns.taps * in_channels; }
  /// A part is a group of an image.
  std::int64_t parts() const { return batch * groups; }
  std::int64_t from_size() const { return rows.size * columns.size; }
  std::int64_t from_part() const { return in_channels * from_size(); }
  std::int64_t to_part() const { return out_channels * to_size; }
};

/// The pass that makes the result of a convolution.
ConvPass result_pass(const kernel::Convolution& conv);
/// The pass that makes the gradient of its input at this place and those that follow by the stride.
ConvPass input_pass(const kernel::Convolution& conv, std::int64_t first_row,
                    std::int64_t first_column);

}  // namespace eg::cpu
