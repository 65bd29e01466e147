#pragma once

// The common form of a convolution and of the gradient of its input. Both are one or several plain
// convolutions, and the code that computes one (tile by tile, or by Winograd's algorithm) need not
// know which of the two it is for.

#include <array>
#include <cstdint>

#include "backend/cpu/nn/conv_planes.h"
#include "kernels/conv.h"

namespace eg::cpu {

/// One plain convolution. A convolution is a single pass. The gradient of its input is one pass for
/// every remainder of a row and a column modulo the stride, because input positions with the same
/// remainder use the same taps.
struct ConvPass {
  std::int64_t batch;
  std::int64_t groups;
  ConvAxis rows;
  ConvAxis columns;
  // Input and output channels of a group.
  std::int64_t in_channels;
  std::int64_t out_channels;
  // The weight of output channel o, input channel i and tap (y, x) is at first_weight + o * [0] + i
  // * [1] + y * [2] + x * [3].
  std::int64_t first_weight;
  std::array<std::int64_t, 4> weight_strides;
  std::int64_t group_weights;  ///< weights of a group
  // Position (y, x) of a channel is written to to_first + y * to_row_step + x * to_column_step.
  std::int64_t to_first;
  std::int64_t to_row_step;
  std::int64_t to_column_step;
  std::int64_t to_size;

  std::int64_t depth() const { return rows.taps * columns.taps * in_channels; }
  /// A part is one group of one image.
  std::int64_t parts() const { return batch * groups; }
  std::int64_t from_size() const { return rows.size * columns.size; }
  std::int64_t from_part() const { return in_channels * from_size(); }
  std::int64_t to_part() const { return out_channels * to_size; }
};

/// Returns the pass that computes the output of a convolution.
ConvPass result_pass(const kernel::Convolution& conv);
/// Returns the pass that computes the gradient of the input at this position and every stride-th
/// one after it.
ConvPass input_pass(const kernel::Convolution& conv, std::int64_t first_row,
                    std::int64_t first_column);

}  // namespace eg::cpu
