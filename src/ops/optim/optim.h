#pragma once

// Optimizer steps over lists of parameters: in place, not recorded, one pass over memory each. They
// return nothing. Errors are thrown before any value changes; check_step_ does this for an
// optimizer whose step consists of several of these ops.

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
      "sgd_step_", "One step of stochastic gradient descent, with the options of torch.optim.SGD."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"},       Arg{"grads"},    Arg{"momentum_buffers"},
                                   Arg{"lr"},           Arg{"momentum"}, Arg{"dampening"},
                                   Arg{"weight_decay"}, Arg{"nesterov"}, Arg{"maximize"},
                                   Arg{"first"}};
  /// `momentum_buffers` is empty when momentum is 0. If `first`, the buffers start as the
  /// gradients.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& momentum_buffers, double lr, double momentum,
                         double dampening, double weight_decay, bool nesterov, bool maximize,
                         bool first);
};

struct AdamStepInPlace {
  static constexpr op::Doc doc{"adam_step_",
                               "One step of Adam or AdamW, with the options of torch.optim."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"},      Arg{"grads"},           Arg{"exp_avgs"},
                                   Arg{"exp_avg_sqs"}, Arg{"max_exp_avg_sqs"}, Arg{"step"},
                                   Arg{"lr"},          Arg{"beta1"},           Arg{"beta2"},
                                   Arg{"eps"},         Arg{"weight_decay"},    Arg{"decoupled"},
                                   Arg{"maximize"}};
  /// `max_exp_avg_sqs` is empty without AMSGrad. `step` is the number of this step, from 1.
  /// `decoupled` selects AdamW's weight decay.
  static TensorList call(const TensorList& params, const TensorList& grads,
                         const TensorList& exp_avgs, const TensorList& exp_avg_sqs,
                         const TensorList& max_exp_avg_sqs, std::int64_t step, double lr,
                         double beta1, double beta2, double eps, double weight_decay,
                         bool decoupled, bool maximize);
};

struct RmspropStepInPlace {
  static constexpr op::Doc doc{"rmsprop_step_",
                               "One step of RMSprop, with the options of torch.optim."};
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
  static constexpr op::Doc doc{"adagrad_step_",
                               "One step of Adagrad, with the options of torch.optim."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"params"}, Arg{"grads"},        Arg{"sums"},    Arg{"lr"},
                                   Arg{"eps"},    Arg{"weight_decay"}, Arg{"maximize"}};
  /// `lr` is the learning rate of this step.
  static TensorList call(const TensorList& params, const TensorList& grads, const TensorList& sums,
                         double lr, double eps, double weight_decay, bool maximize);
};

using OptimOps = TypeList<CheckStepInPlace, SgdStepInPlace, AdamStepInPlace, RmspropStepInPlace,
                          AdagradStepInPlace>;

}  // namespace eg
