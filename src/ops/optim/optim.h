#pragma once

// Optimiser steps over lists of parameters: in place, not recorded, one pass over memory each.
// Whatever is wrong is reported before the first number changes; check_step_ does that for a step
// that takes several of them. They return nothing.

#include "dispatch/function_op.h"

namespace eg {

struct CheckStepInPlace {
  static constexpr op::Doc doc{"check_step_", "Throws unless an optimizer's step would succeed."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"}, Arg{"grads"}, Arg{"states"}};
  /// `states` are one tensor per parameter, then another per parameter, and so on.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& states);
};

struct SgdStepInPlace {
  static constexpr op::Doc doc{
      "sgd_step_", "One step of stochastic gradient descent, as torch.optim.SGD takes it."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"},       Arg{"grads"},    Arg{"momentum_buffers"},
                                   Arg{"lr"},           Arg{"momentum"}, Arg{"dampening"},
                                   Arg{"weight_decay"}, Arg{"nesterov"}, Arg{"maximize"},
                                   Arg{"first"}};
  /// `momentum_buffers` is empty when momentum is 0; `first` makes them start as the gradients.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& momentum_buffers, double lr, double momentum,
                         double dampening, double weight_decay, bool nesterov, bool maximize,
                         bool first);
};

struct AdamStepInPlace {
  static constexpr op::Doc doc{"adam_step_", "One step of Adam or AdamW, as torch.optim takes it."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"},      Arg{"grads"},           Arg{"exp_avgs"},
                                   Arg{"exp_avg_sqs"}, Arg{"max_exp_avg_sqs"}, Arg{"step"},
                                   Arg{"lr"},          Arg{"beta1"},           Arg{"beta2"},
                                   Arg{"eps"},         Arg{"weight_decay"},    Arg{"decoupled"},
                                   Arg{"maximize"}};
  /// `max_exp_avg_sqs` is empty unless AMSGrad is wanted; `step` counts this step; `decoupled` is
  /// AdamW's weight decay.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& exp_avgs, const TensorList& exp_avg_sqs,
                         const TensorList& max_exp_avg_sqs, std::int64_t step, double lr,
                         double beta1, double beta2, double eps, double weight_decay,
                         bool decoupled, bool maximize);
};

struct RmspropStepInPlace {
  static constexpr op::Doc doc{"rmsprop_step_", "One step of RMSprop, as torch.optim takes it."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{
      Arg{"params"},       Arg{"grads"},    Arg{"square_avgs"}, Arg{"momentum_buffers"},
      Arg{"grad_avgs"},    Arg{"lr"},       Arg{"alpha"},       Arg{"eps"},
      Arg{"weight_decay"}, Arg{"momentum"}, Arg{"maximize"}};
  /// `momentum_buffers` is empty when momentum is 0, `grad_avgs` unless the step is centered.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& square_avgs, const TensorList& momentum_buffers,
                         const TensorList& grad_avgs, double lr, double alpha, double eps,
                         double weight_decay, double momentum, bool maximize);
};

struct AdagradStepInPlace {
  static constexpr op::Doc doc{"adagrad_step_", "One step of Adagrad, as torch.optim takes it."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"}, Arg{"grads"},        Arg{"sums"},    Arg{"lr"},
                                   Arg{"eps"},    Arg{"weight_decay"}, Arg{"maximize"}};
  /// `lr` is that of this step.
  static TensorList call(const TensorList& params, const TensorList& grads, const TensorList& sums,
                         double lr, double eps, double weight_decay, bool maximize);
};

using OptimOps = TypeList<CheckStepInPlace, SgdStepInPlace, AdamStepInPlace, RmspropStepInPlace,
                          AdagradStepInPlace>;

}  // namespace eg
