#pragma once

// Pooling: the largest element or the mean of windows over the last one or two dimensions. The
// leading dimensions are the channels and an optional batch.

#include "dispatch/function_op.h"

namespace eg {

struct MaxPool1d {
  static constexpr op::Doc doc{"max_pool1d", "The largest element of windows along the last dim."};
  static constexpr std::string_view several_with = "return_indices";
  static constexpr std::array args{Arg{"input"},
                                   Arg{"kernel_size"},
                                   Arg{"stride", "null"},
                                   Arg{"padding", "0"},
                                   Arg{"dilation", "1"},
                                   Arg{"ceil_mode", "false"},
                                   Arg{"return_indices", "false"}};
  static constexpr std::array<std::string_view, 2> samples{"T([1, 2, 8]), 2",
                                                           "T([2, 7]), 3, 2, 1, 1, true"};
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, const Dims& kernel_size,
                        const std::optional<Dims>& stride = {}, const Dims& padding = {0},
                        const Dims& dilation = {1}, bool ceil_mode = false,
                        bool return_indices = false);
};

struct MaxPool2d {
  static constexpr op::Doc doc{
      "max_pool2d",
      "The largest element of windows over the last two dims; with "
      "returnIndices, also its index in the plane, -1 where a window holds "
      "only padding."};
  static constexpr std::string_view several_with = "return_indices";
  static constexpr std::array args = MaxPool1d::args;
  static constexpr std::array<std::string_view, 4> samples{
      "T([1, 2, 6, 6]), 2", "T([1, 2, 7, 7]), 3, 2, 1", "T([2, 6, 5]), [2, 3], [1, 2], [1, 0]",
      "T([1, 1, 8, 7]), 2, 3, 0, 2, true"};
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, const Dims& kernel_size,
                        const std::optional<Dims>& stride = {}, const Dims& padding = {0},
                        const Dims& dilation = {1}, bool ceil_mode = false,
                        bool return_indices = false);
};

struct AvgPool1d {
  static constexpr op::Doc doc{"avg_pool1d", "The mean of windows along the last dim."};
  static constexpr std::array args{
      Arg{"input"},        Arg{"kernel_size"},        Arg{"stride", "null"},
      Arg{"padding", "0"}, Arg{"ceil_mode", "false"}, Arg{"count_include_pad", "true"}};
  static constexpr std::array<std::string_view, 2> samples{"T([1, 2, 8]), 2",
                                                           "T([2, 7]), 3, 2, 1, true, false"};
  static Tensor call(const Tensor& input, const Dims& kernel_size,
                     const std::optional<Dims>& stride = {}, const Dims& padding = {0},
                     bool ceil_mode = false, bool count_include_pad = true);
};

struct AvgPool2d {
  static constexpr op::Doc doc{"avg_pool2d", "The mean of windows over the last two dims."};
  static constexpr std::array args{Arg{"input"},
                                   Arg{"kernel_size"},
                                   Arg{"stride", "null"},
                                   Arg{"padding", "0"},
                                   Arg{"ceil_mode", "false"},
                                   Arg{"count_include_pad", "true"},
                                   Arg{"divisor_override", "null"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([1, 2, 6, 6]), 2", "T([1, 1, 5, 5]), 3, 2, 1", "T([2, 5, 4]), [3, 2], 2, 1, true, false",
      "T([1, 4, 4]), 2, 1, 0, false, true, 3"};
  static Tensor call(const Tensor& input, const Dims& kernel_size,
                     const std::optional<Dims>& stride = {}, const Dims& padding = {0},
                     bool ceil_mode = false, bool count_include_pad = true,
                     std::optional<std::int64_t> divisor_override = {});
};

struct AdaptiveAvgPool2d {
  static constexpr op::Doc doc{"adaptive_avg_pool2d",
                               "The mean of windows chosen so that the result has outputSize."};
  static constexpr std::array args{Arg{"input"}, Arg{"output_size"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([1, 2, 6, 5]), [3, 2]", "T([2, 3, 4]), 5", "T([2, 3, 4]), [null, 2]"};
  static Tensor call(const Tensor& input, const OutputSizes& output_size);
};

struct AdaptiveMaxPool2d {
  static constexpr op::Doc doc{"adaptive_max_pool2d",
                               "The largest element of windows chosen so that the result has "
                               "outputSize."};
  static constexpr std::string_view several_with = "return_indices";
  static constexpr std::array args{Arg{"input"}, Arg{"output_size"},
                                   Arg{"return_indices", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([1, 2, 6, 5]), [3, 2]", "T([2, 3, 4]), 5", "T([2, 3, 4]), [null, 2]"};
  static constexpr std::array results = kValuesAndIndices;
  static OneOrMore call(const Tensor& input, const OutputSizes& output_size,
                        bool return_indices = false);
};

using PoolOps =
    TypeList<MaxPool1d, MaxPool2d, AvgPool1d, AvgPool2d, AdaptiveAvgPool2d, AdaptiveMaxPool2d>;

}  // namespace eg
