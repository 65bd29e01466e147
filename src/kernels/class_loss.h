#pragma once

// Losses of classes given by index, with class weights, ignored positions and label smoothing.
//
// The target of a position is a distribution q over classes: (1 - smoothing) w[t] at its class t,
// plus smoothing w[c] / classes at every class c; q is zero when t is ignore_index. The negative
// log-likelihood is -sum(q * log_probability); cross entropy applies it to the log-softmax of the
// scores. One pass computes cross entropy and saves only the normalization of each row.

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

struct ClassTargets {
  Rows rows;          ///< `size` is the number of classes
  In index;           ///< int64 [outer, inner]
  OptionalIn weight;  ///< per class, in the dtype of the scores; ones when absent
  std::int64_t ignore_index = -100;
  double smoothing = 0;
};

/// Checks the targets: one that is neither a class nor ignored is an error of `op`, which is
/// reported as FindOutOfRange does.
struct FindBadTarget {
  static constexpr std::string_view name = "find_bad_target";
  std::string_view op;
  ClassTargets targets;
  OptionalOut checked;  ///< int64: the targets, bad ones replaced by 0

  void compute_on_cpu() const;
};

/// Computes the weighted mean of losses: their sum over the total weight of their targets. NaN when
/// every target is ignored.
struct MeanLoss {
  static constexpr std::string_view name = "mean_loss";
  ClassTargets targets;
  In losses;
  Out mean;
  Out total_weight;  ///< the divisor of the mean

  void compute_on_cpu() const;
};

/// Computes the loss of each position from log-probabilities, without smoothing.
struct NllLosses {
  static constexpr std::string_view name = "nll_losses";
  ClassTargets targets;
  In log_probabilities;
  Out losses;

  void compute_on_cpu() const;
};

/// Computes the distributions q, in the shape of the rows.
struct TargetDistribution {
  static constexpr std::string_view name = "target_distribution";
  ClassTargets targets;
  Out distribution;

  void compute_on_cpu() const;
};

/// Computes the loss of each position from scores. Also returns the largest score of each row and
/// the logarithm of the sum of exp(score - largest).
struct CrossEntropy {
  static constexpr std::string_view name = "cross_entropy";
  ClassTargets targets;
  In scores;
  Out losses;
  Out largest;
  Out log_sum;

  void compute_on_cpu() const;
};

/// Computes the gradient of the scores. The gradient of the loss at position n is
/// grad[n * grad_step]; it is divided by total_weight when that is present, and is 0 when
/// total_weight is 0.
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
