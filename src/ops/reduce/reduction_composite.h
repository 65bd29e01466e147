#pragma once

// Reductions that are composed of others.

#include "dispatch/function_op.h"
#include "ops/reduce/reduction.h"

namespace eg {

struct Nansum {
  static constexpr op::Doc doc{"nansum", "Sum of the elements that are not NaN."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args = Sum::args;
  static constexpr std::array samples = Sum::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {}, bool keepdim = false,
                     std::optional<DType> dtype = {});

  using Attrs = Sum::Attrs;
  static constexpr std::array<std::string_view, 1> saved_names{"self"};
  static GradList backward(const Backward<Nansum>& b);
};

struct Nanmean {
  static constexpr op::Doc doc{"nanmean", "Mean of the elements that are not NaN."};
  static constexpr bool ignores_nan = true;
  static constexpr std::array args = Sum::args;
  static constexpr std::array samples = Sum::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {}, bool keepdim = false,
                     std::optional<DType> dtype = {});
};

struct CountNonzero {
  static constexpr op::Doc doc{"count_nonzero", "Number of nonzero elements."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3])", "T([2, 3]), -1"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {});
};

struct Aminmax {
  static constexpr op::Doc doc{"aminmax", "[smallest, largest] element, of all or along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3])", "T([2, 3]), 1, true",
                                                           "T([]), 0"};
  static constexpr std::array<std::string_view, 2> results{"min", "max"};
  static TensorList call(const Tensor& input, std::optional<std::int64_t> dim = {},
                         bool keepdim = false);
};

struct VarMean {
  static constexpr op::Doc doc{"var_mean", "[variance, mean] of all elements or along dim."};
  static constexpr std::array args = Variance::args;
  static constexpr std::array samples = Variance::samples;
  static constexpr std::array<std::string_view, 2> results{"variance", "mean"};
  static TensorList call(const Tensor& input, const std::optional<Dims>& dim = {},
                         double correction = 1, bool keepdim = false,
                         std::optional<bool> unbiased = {});
};

struct StdMean {
  static constexpr op::Doc doc{"std_mean",
                               "[standard deviation, mean] of all elements or along dim."};
  static constexpr std::array args = Variance::args;
  static constexpr std::array samples = Variance::samples;
  static constexpr std::array<std::string_view, 2> results{"std", "mean"};
  static TensorList call(const Tensor& input, const std::optional<Dims>& dim = {},
                         double correction = 1, bool keepdim = false,
                         std::optional<bool> unbiased = {});
};

using ReductionCompositeOps = TypeList<Nansum, Nanmean, CountNonzero, Aminmax, VarMean, StdMean>;

}  // namespace eg
