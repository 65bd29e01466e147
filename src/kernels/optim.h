#pragma once

// Optimizer steps: one pass over `count` elements of a parameter, its gradient and its state, in
// PyTorch's order of operations, so that a training run matches PyTorch's to the last digits. All
// of them have the same layout and the same floating dtype. The parameter and the state are updated
// in place.
//
// State decays geometrically. Once the gradient is zero, it would reach the denormal numbers, on
// which processors are up to a hundred times slower, and WebAssembly cannot flush them to zero.
// Values that are too small to change a parameter are therefore set to zero.

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
  /// This is the first step: the momentum buffer is initialized with the gradient.
  bool first;
};

/// A step of SGD, for one parameter.
struct SgdStep {
  static constexpr std::string_view name = "sgd_step";
  SgdOptions options;
  std::int64_t count;
  Out param;
  In grad;
  OptionalOut momentum_buffer;  ///< not needed when momentum is 0

  void compute_on_cpu() const;
};

struct AdamOptions {
  /// The number of this step, counted from 1.
  double step;
  double lr;
  double beta1;
  double beta2;
  double eps;
  double weight_decay;
  /// AdamW: weight decay is applied to the parameter directly, not through the gradient.
  bool decoupled;
  bool maximize;
};

/// A step of Adam or AdamW, for one parameter.
struct AdamStep {
  static constexpr std::string_view name = "adam_step";
  AdamOptions options;
  std::int64_t count;
  Out param;
  In grad;
  Out exp_avg;
  Out exp_avg_sq;
  OptionalOut max_exp_avg_sq;  ///< present for AMSGrad only

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

/// A step of RMSprop, for one parameter.
struct RmspropStep {
  static constexpr std::string_view name = "rmsprop_step";
  RmspropOptions options;
  std::int64_t count;
  Out param;
  In grad;
  Out square_avg;
  OptionalOut momentum_buffer;  ///< absent when momentum is 0
  OptionalOut grad_avg;         ///< present for the centered variant only

  void compute_on_cpu() const;
};

struct AdagradOptions {
  /// The learning rate of this step.
  double lr;
  double eps;
  double weight_decay;
  bool maximize;
};

/// A step of Adagrad, for one parameter.
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
