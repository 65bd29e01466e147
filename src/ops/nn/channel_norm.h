#pragma once

// Normalization with parameters per channel, which is dimension 1: over the batch, over groups of
// channels, over each channel of each sample. Composites: the last two are layer norm of a reshaped
// input.

#include "dispatch/function_op.h"

namespace eg {

struct BatchNorm {
  static constexpr op::Doc doc{
      "batch_norm",
      "Normalizes every channel by its mean and variance over the batch, or by the running ones; "
      "in training, the running ones are updated with momentum."};
  static constexpr std::array args{
      Arg{"input"},        Arg{"running_mean"},      Arg{"running_var"},     Arg{"weight", "null"},
      Arg{"bias", "null"}, Arg{"training", "false"}, Arg{"momentum", "0.1"}, Arg{"eps", "1e-5"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([4, 3]), null, null, T([3]), T([3]), true",
      "T([2, 3, 2, 2]), null, null, T([3]), null, true, 0.1, 0.01",
      "T([4, 2, 2]), null, null, null, T([2]), true",
      "T([3, 2, 2]), T([2]), T([2], 0.5, 2), T([2]), T([2])"};
  static Tensor call(const Tensor& input, const std::optional<Tensor>& running_mean,
                     const std::optional<Tensor>& running_var,
                     const std::optional<Tensor>& weight = {},
                     const std::optional<Tensor>& bias = {}, bool training = false,
                     double momentum = 0.1, double eps = 1e-5);
};

struct GroupNorm {
  static constexpr op::Doc doc{"group_norm",
                               "Normalizes groups of channels of every sample, then scales and "
                               "shifts every channel."};
  static constexpr std::array args{Arg{"input"}, Arg{"num_groups"}, Arg{"weight", "null"},
                                   Arg{"bias", "null"}, Arg{"eps", "1e-5"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([2, 4, 3]), 2, T([4]), T([4])", "T([2, 6]), 2", "T([1, 4, 2, 2]), 4, null, T([4]), 0.1"};
  static Tensor call(const Tensor& input, std::int64_t num_groups,
                     const std::optional<Tensor>& weight = {},
                     const std::optional<Tensor>& bias = {}, double eps = 1e-5);
};

struct InstanceNorm {
  static constexpr op::Doc doc{"instance_norm",
                               "Normalizes every channel of every sample by its own statistics, or "
                               "by running ones."};
  static constexpr std::array args{
      Arg{"input"},           Arg{"running_mean", "null"}, Arg{"running_var", "null"},
      Arg{"weight", "null"},  Arg{"bias", "null"},         Arg{"use_input_stats", "true"},
      Arg{"momentum", "0.1"}, Arg{"eps", "1e-5"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([2, 3, 5])", "T([2, 2, 2, 3]), null, null, T([2]), T([2])",
      "T([2, 2, 3]), T([2]), T([2], 0.5, 2), T([2]), T([2]), false"};
  static Tensor call(const Tensor& input, const std::optional<Tensor>& running_mean = {},
                     const std::optional<Tensor>& running_var = {},
                     const std::optional<Tensor>& weight = {},
                     const std::optional<Tensor>& bias = {}, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5);
};

using ChannelNormOps = TypeList<BatchNorm, GroupNorm, InstanceNorm>;

}  // namespace eg
