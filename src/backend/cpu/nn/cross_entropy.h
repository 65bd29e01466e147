#pragma once

// Losses of classes given by index, with class weights, ignored positions and label smoothing.
//
// A position's target is a distribution q over classes: (1 - smoothing) w[t] at its class t, plus
// smoothing w[c] / classes at every class c; nothing at all when t is ignore_index. The negative
// log-likelihood is -sum(q * log_probability); cross entropy is the same of the log-softmax. One
// pass computes it from the scores, and keeps per position only what normalises its row.

#include <cstdint>

#include "backend/cpu/reduce/rows.h"

namespace eg::cpu {

struct ClassTargets {
  Rows rows;                            ///< `size` is the number of classes
  const std::int64_t* index = nullptr;  ///< [outer, inner]
  const void* weight = nullptr;         ///< per class, of the dtype of the rows; null means ones
  std::int64_t ignore_index = -100;
  double smoothing = 0;

  std::int64_t positions() const { return rows.outer * rows.inner; }
};

/// The first target that is neither a class nor ignored; ignore_index when there is none.
std::int64_t find_bad_target(const ClassTargets& targets);

/// The sum of the weights of the targets: what a mean is over.
double target_weight(const ClassTargets& targets);

/// Losses per position, from log-probabilities and without smoothing.
void nll_losses(const ClassTargets& targets, const void* log_probabilities, void* losses);

/// Writes the distributions q, in the shape of the rows.
void target_distribution(const ClassTargets& targets, void* out);

/// Losses per position, from scores; `largest` and `log_sum` receive what softmax_rows.h calls m,
/// s.
void cross_entropy(const ClassTargets& targets, const void* scores, void* losses, void* largest,
                   void* log_sum);

/// The gradient of the scores; the loss at position n has the gradient scale * grad[n * grad_step].
void cross_entropy_backward(const ClassTargets& targets, const void* scores, const void* largest,
                            const void* log_sum, const void* grad, std::int64_t grad_step,
                            double scale, void* out);

}  // namespace eg::cpu
