#pragma once

// Variance, norms and log-sum-exp.

#include "dispatch/function_op.h"
#include "ops/reduce/reduce.h"

namespace eg {

struct Variance {
  static constexpr op::Doc doc{
      "var", "Variance of all elements or along dim, divided by their number - correction."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"correction", "1"},
                                   Arg{"keepdim", "false"}, Arg{"unbiased", "null"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([3, 5])", "T([3, 5]), 1", "T([3, 5]), 0, 0, true", "T([2, 3, 4]), [0, -1]"};
  /// `unbiased` is the older form of the argument: true means correction 1, false means 0.
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     double correction = 1, bool keepdim = false,
                     std::optional<bool> unbiased = {});

  struct Attrs {
    ReducedDims reduced;
    double correction;
    bool is_of_all;  ///< true when no dimensions were given
  };
  static constexpr std::array<std::string_view, 1> saved_names{"self"};
  static GradList backward(const Backward<Variance>& b);
};

struct Std {
  static constexpr op::Doc doc{"std", "Standard deviation: the square root of var."};
  static constexpr std::array args = Variance::args;
  static constexpr std::array samples = Variance::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     double correction = 1, bool keepdim = false,
                     std::optional<bool> unbiased = {});

  using Attrs = Variance::Attrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Std>& b);
};

/// The public norm() also knows the norms of matrices (web/src/composites/linalg/norms.ts).
struct Norm {
  static constexpr Audience audience = Audience::kInternal;
  static constexpr op::Doc doc{
      "norm", "The p-norm of all elements as one vector, or of the vectors along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"p", "2"}, Arg{"dim", "null"},
                                   Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 6> samples{
      "T([3, 4])",         "T([3, 4]), 1, 1",         "T([3, 4]), 3, 0, true",
      "T([3, 4]), 1.5, 1", "T([3, 4]), Infinity, -1", "T([2, 3, 4]), 2, [0, 2]"};
  static Tensor call(const Tensor& input, double p = 2, const std::optional<Dims>& dim = {},
                     bool keepdim = false);

  struct Attrs {
    double p;
    ReducedDims reduced;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Norm>& b);
};

/// The gradient of a norm with respect to its input; undefined if it is zero for every input.
Tensor norm_gradient(const Var& g, const Tensor& input, const Var& norm, const Norm::Attrs& attrs);

struct Logsumexp {
  static constexpr op::Doc doc{"logsumexp", "log(sum(exp(input))) along dim, without overflow."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([2, 3, 4]), 1", "T([2, 3, 4]), [0, 2], true", "T([]), 0"};
  static Tensor call(const Tensor& input, const Dims& dim, bool keepdim = false);

  struct Attrs {
    ReducedDims reduced;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Logsumexp>& b);
};

using StatisticsOps = TypeList<Variance, Std, Norm, Logsumexp>;

}  // namespace eg
