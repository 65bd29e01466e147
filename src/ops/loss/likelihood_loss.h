#pragma once

// Negative log likelihoods of counts under Poisson distributions and of values under normal
// distributions. Composites. `full` adds the terms that do not depend on the input.

#include "dispatch/function_op.h"

namespace eg {

struct PoissonNllLoss {
  static constexpr op::Doc doc{
      "poisson_nll_loss",
      "Negative log likelihood of counts whose rate, or its logarithm, is the input."};
  static constexpr std::array args{
      Arg{"input"},         Arg{"target"},      Arg{"log_input", "true"},
      Arg{"full", "false"}, Arg{"eps", "1e-8"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4]), T([4], 0, 1)", "T([2, 3], 0.5, 2), T([2, 3], 2, 4), false, true",
      "T([4]), T([4], 2, 3), true, true, 1e-8, 'none'"};
  static Tensor call(const Tensor& input, const Tensor& target, bool log_input = true,
                     bool full = false, double eps = 1e-8, Reduction reduction = Reduction::kMean);
};

struct GaussianNllLoss {
  static constexpr op::Doc doc{
      "gaussian_nll_loss",
      "Negative log likelihood of target under normal distributions with the mean input and the "
      "variance var, of at least eps."};
  static constexpr std::array args{Arg{"input"},       Arg{"target"},
                                   Arg{"var"},         Arg{"full", "false"},
                                   Arg{"eps", "1e-6"}, Arg{"reduction", "'mean'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4]), T([4]), T([4], 0.5, 2)", "T([2, 3]), T([2, 3]), T([2], 0.5, 2), true, 1e-6, 'none'",
      "T([2, 3]), T([2, 3]), 0.5"};
  static Tensor call(const Tensor& input, const Tensor& target, const Operand& var,
                     bool full = false, double eps = 1e-6, Reduction reduction = Reduction::kMean);
};

using LikelihoodLossOps = TypeList<PoissonNllLoss, GaussianNllLoss>;

}  // namespace eg
