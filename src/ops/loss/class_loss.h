#pragma once

// Classification losses: cross entropy of scores, negative log-likelihood of log-probabilities.
//
// The classes are dimension 1 of the input, or dimension 0 of an input without a batch; the target
// has the input's shape without it. Cross entropy with class indices is one kernel in each
// direction, and saves two numbers per position instead of the log-probabilities.

#include "dispatch/function_op.h"

namespace eg {

/// What the gradients of losses by class index need.
struct ClassLossAttrs {
  std::int64_t ignore_index;
  double smoothing;
  bool is_reduced;
};

struct CrossEntropy {
  static constexpr op::Doc doc{"cross_entropy",
                               "Cross entropy of scores with target classes or probabilities."};
  static constexpr std::array args{Arg{"input"},
                                   Arg{"target"},
                                   Arg{"weight", "null"},
                                   Arg{"ignore_index", "-100"},
                                   Arg{"reduction", "'mean'"},
                                   Arg{"label_smoothing", "0"}};
  static constexpr std::array<std::string_view, 6> samples{
      "T([4, 5]), I([4], 5)",
      "T([5]), I([], 5)",
      "T([2, 3, 4]), I([2, 4], 3), null, 1, 'none'",
      "T([4, 5]), I([4], 5), null, -100, 'sum', 0.1",
      "T([4, 5]), T([4, 5], 0, 1)",
      "T([2, 3, 4]), T([2, 3, 4], 0, 1), null, -100, 'none', 0.2"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     const std::optional<Tensor>& weight = {}, std::int64_t ignore_index = -100,
                     Reduction reduction = Reduction::kMean, double label_smoothing = 0);

  using Attrs = ClassLossAttrs;
  static constexpr std::array<std::string_view, 6> saved_names{"self", "target",  "weight",
                                                               "max",  "log_sum", "total_weight"};
  static GradList backward(const Backward<CrossEntropy>& b);
};

struct NllLoss {
  static constexpr op::Doc doc{
      "nll_loss", "Negative log-likelihood of target classes, from log-probabilities."};
  static constexpr std::array args{Arg{"input"}, Arg{"target"}, Arg{"weight", "null"},
                                   Arg{"ignore_index", "-100"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 5]), I([4], 5)", "T([2, 3, 4]), I([2, 4], 3), null, 1, 'none'",
      "T([5]), I([], 5), null, -100, 'sum'"};
  static Tensor call(const Tensor& input, const Tensor& target,
                     const std::optional<Tensor>& weight = {}, std::int64_t ignore_index = -100,
                     Reduction reduction = Reduction::kMean);

  using Attrs = ClassLossAttrs;
  static constexpr std::array<std::string_view, 4> saved_names{"self", "target", "weight",
                                                               "total_weight"};
  static GradList backward(const Backward<NllLoss>& b);
};

using ClassLossOps = TypeList<CrossEntropy, NllLoss>;

}  // namespace eg
