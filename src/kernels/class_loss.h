#pragma once

// Losses of classes given by index, with class weights, ignored positions and label smoothing.
//
// A position's target is a distribution q over classes: (1 - smoothing) w[t] at its class t, plus
// smoothing w[c] / classes at every class c; nothing at all when t is ignore_index. The negative
// log-likelihood is -sum(q * log_probability); cross entropy is the same of the log-softmax. One
// pass computes it from the scores, and keeps per position only what normalises its row.

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

struct ClassTargets {
  Rows rows;          ///< `size` is the number of classes
  In index;           ///< int64 [outer, inner]
  OptionalIn weight;  ///< per class, of the dtype of the scores; ones where there is none
  std::int64_t ignore_index = -100;
  double smoothing = 0;
};

/// A target that is neither a class nor ignored is an error of `op`, as FindOutOfRange says.
struct FindBadTarget {
  static constexpr std::string_view name = "find_bad_target";
  std::string_view op;
  ClassTargets targets;

  void compute_on_cpu() const;
};

/// The mean of losses, which is over the weights of their targets: not a number without any.
struct MeanLoss {
  static constexpr std::string_view name = "mean_loss";
  ClassTargets targets;
  In losses;
  Out mean;
  Out total_weight;  ///< what the mean is over

  void compute_on_cpu() const;
};

/// Losses per position, from log-probabilities and without smoothing.
struct NllLosses {
  static constexpr std::string_view name = "nll_losses";
  ClassTargets targets;
  In log_probabilities;
  Out losses;

  void compute_on_cpu() const;
};

/// The distributions q, in the shape of the rows.
struct TargetDistribution {
  static constexpr std::string_view name = "target_distribution";
  ClassTargets targets;
  Out distribution;

  void compute_on_cpu() const;
};

/// Losses per position, from scores; and the largest score of a row and the logarithm of the sum of
/// exp(score - largest).
struct CrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  ClassTargets targets;
  In scores;
  Out losses;
  Out largest;
  Out log_sum;

  void compute_on_cpu() const;
};

/// The gradient of the scores; the loss at position n has the gradient grad[n * grad_step], which
/// is shared out by total_weight where that is given (none of it where that is 0).
struct CrossEntropyBackward {
  static constexpr std::string_view name = "cross_entropy_backward";
  ClassTargets targets;
  In scores;
  In largest;
  In log_sum;
  In grad;
  std::int64_t grad_step;
  OptionalIn total_weight;
  Out grad_scores;

  void compute_on_cpu() const;
};

using ClassLossKernels = TypeList<FindBadTarget, MeanLoss, NllLosses, TargetDistribution,
                                  CrossEntropy, CrossEntropyBackward>;

}  // namespace eg::kernel
