#pragma once

// Optimiser steps: one pass over a parameter, its gradient and its state, in PyTorch's order of
// operations, so that a training run follows PyTorch's to the last digits.
//
// State decays geometrically: where the gradient has become zero it would run into the denormal
// numbers, on which processors are up to a hundred times slower, and WebAssembly cannot switch them
// off. Values that can no longer change a parameter are therefore made zero.

#include <cstdint>

namespace eg::cpu {

struct SgdStep {
  double lr;
  double momentum;
  double dampening;
  double weight_decay;
  bool nesterov;
  bool maximize;
  /// The buffer holds nothing yet: it starts as the gradient.
  bool first;
};

/// Updates `count` numbers of `param`; `momentum_buffer` may be null when momentum is 0.
template <class T>
void sgd_step(const SgdStep& step, std::int64_t count, T* param, const T* grad, T* momentum_buffer);

struct AdamStep {
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

/// Updates `count` numbers of `param`; `max_exp_avg_sq` is null unless AMSGrad is wanted.
template <class T>
void adam_step(const AdamStep& step, std::int64_t count, T* param, const T* grad, T* exp_avg,
               T* exp_avg_sq, T* max_exp_avg_sq);

struct RmspropStep {
  double lr;
  double alpha;
  double eps;
  double weight_decay;
  double momentum;
  bool maximize;
};

/// Updates `count` numbers of `param`; `momentum_buffer` is null without momentum, `grad_avg`
/// unless the average is taken off.
template <class T>
void rmsprop_step(const RmspropStep& step, std::int64_t count, T* param, const T* grad,
                  T* square_avg, T* momentum_buffer, T* grad_avg);

struct AdagradStep {
  /// The learning rate of this step.
  double lr;
  double eps;
  double weight_decay;
  bool maximize;
};

/// Updates `count` numbers of `param`; `sum` is that of the squared gradients.
template <class T>
void adagrad_step(const AdagradStep& step, std::int64_t count, T* param, const T* grad, T* sum);

}  // namespace eg::cpu
