#pragma once

// Optimiser steps: one pass over `count` numbers of a parameter, of its gradient and of its state,
// in PyTorch's order of operations, so that a training run follows PyTorch's to the last digits.
// All are packed alike and of one floating dtype. The parameter and the state are read and written.
//
// State decays geometrically: where the gradient has become zero it would run into the denormal
// numbers, on which processors are up to a hundred times slower, and WebAssembly cannot switch them
// off. Values that can no longer change a parameter are therefore made zero.

#include <string_view>

#include "kernels/kernel.h"

namespace eg::kernel {

struct SgdOptions {
  double lr;
  double momentum;
  double dampening;
  double weight_decay;
  bool nesterov;
  bool maximize;
  /// The buffer holds nothing yet: it starts as the gradient.
  bool first;
};

struct SgdStep {
  static constexpr std::string_view name = "sgd_step";
  SgdOptions options;
  std::int64_t count;
  Out param;
  In grad;
  OptionalOut momentum_buffer;  ///< none is needed when momentum is 0

  void compute_on_cpu() const;
};

struct AdamOptions {
  /// How many steps there have been, this one included.
  double step;
  double lr;
  double beta1;
  double beta2;
  double eps;
  double weight_decay;
  /// AdamW: weights decay by themselves instead of through the gradient.
  bool decoupled;
  bool maximize;
};

struct AdamStep {
  static constexpr std::string_view name = "adam_step";
  AdamOptions options;
  std::int64_t count;
  Out param;
  In grad;
  Out exp_avg;
  Out exp_avg_sq;
  OptionalOut max_exp_avg_sq;  ///< none unless AMSGrad is wanted

  void compute_on_cpu() const;
};

struct RmspropOptions {
  double lr;
  double alpha;
  double eps;
  double weight_decay;
  double momentum;
  bool maximize;
};

struct RmspropStep {
  static constexpr std::string_view name = "rmsprop_step";
  RmspropOptions options;
  std::int64_t count;
  Out param;
  In grad;
  Out square_avg;
  OptionalOut momentum_buffer;  ///< none without momentum
  OptionalOut grad_avg;         ///< none unless the average is taken off

  void compute_on_cpu() const;
};

struct AdagradOptions {
  /// The learning rate of this step.
  double lr;
  double eps;
  double weight_decay;
  bool maximize;
};

struct AdagradStep {
  static constexpr std::string_view name = "adagrad_step";
  AdagradOptions options;
  std::int64_t count;
  Out param;
  In grad;
  Out sum;  ///< of the squared gradients

  void compute_on_cpu() const;
};

using OptimKernels = TypeList<SgdStep, AdamStep, RmspropStep, AdagradStep>;

}  // namespace eg::kernel
