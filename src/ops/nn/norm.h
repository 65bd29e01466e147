#pragma once

// Normalization over the last dims: layer norm and RMS norm, as fused kernels. Under create_graph
// their gradient is composed of ops on the input itself.

#include "dispatch/function_op.h"

namespace eg {

struct LayerNorm {
  static constexpr op::Doc doc{"layer_norm",
                               "Subtracts the mean and divides by the standard deviation over the "
                               "last dims, then scales and shifts."};
  static constexpr std::array args{Arg{"input"}, Arg{"normalized_shape"}, Arg{"weight", "null"},
                                   Arg{"bias", "null"}, Arg{"eps", "1e-5"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 5]), [5], T([5]), T([5])", "T([2, 3, 4]), [3, 4], T([3, 4]), null, 0.1",
      "T([2, 6]), [6]", "T([4]), [4], null, T([4])"};
  static Tensor call(const Tensor& input, const Dims& normalized_shape,
                     const std::optional<Tensor>& weight = {},
                     const std::optional<Tensor>& bias = {}, double eps = 1e-5);
};

struct RmsNorm {
  static constexpr op::Doc doc{"rms_norm",
                               "Divides by the root mean square over the last dims, then scales; "
                               "the default eps is the epsilon of the dtype."};
  static constexpr std::array args{Arg{"input"}, Arg{"normalized_shape"}, Arg{"weight", "null"},
                                   Arg{"eps", "null"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([3, 5]), [5], T([5])", "T([2, 3, 4]), [3, 4], null, 0.1", "T([4]), [4]"};
  static Tensor call(const Tensor& input, const Dims& normalized_shape,
                     const std::optional<Tensor>& weight = {}, std::optional<double> eps = {});
};

using NormOps = TypeList<LayerNorm, RmsNorm>;

}  // namespace eg
