// eg.optim: optimizers and learning-rate schedulers.

export { Adadelta, type AdadeltaSettings } from "./adadelta.js";
export { Adafactor, type AdafactorEps, type AdafactorSettings } from "./adafactor.js";
export { Adagrad, type AdagradSettings } from "./adagrad.js";
export { Adam, type AdamSettings, AdamW } from "./adam.js";
export { Adamax, type AdamaxSettings } from "./adamax.js";
export { ASGD, type ASGDSettings } from "./asgd.js";
export { registerOptimizerStepPostHook, registerOptimizerStepPreHook } from "./global_hooks.js";
export type {
  GroupOf,
  GroupParts,
  OptimizerState,
  ParamGroup,
  Params,
  PlannedStep,
  RateSettings,
  SettingRules,
  StepInputs,
} from "./groups.js";
export type {
  OptimizerHook,
  OptimizerHookOptions,
  OptimizerStateHook,
  StepPostHook,
  StepPreHook,
} from "./hooks.js";
export { LBFGS, type LBFGSSettings, type LBFGSValue } from "./lbfgs/index.js";
export * as lrScheduler from "./lr_scheduler/index.js";
export { NAdam, type NAdamSettings } from "./nadam.js";
export { Optimizer } from "./optimizer.js";
export { RAdam, type RAdamSettings } from "./radam.js";
export { RMSprop, type RMSpropSettings } from "./rmsprop.js";
export { Rprop, type RpropSettings } from "./rprop.js";
export { SGD, type SGDSettings } from "./sgd.js";
export { SparseAdam, type SparseAdamSettings } from "./sparse_adam.js";
export * as swaUtils from "./swa_utils/index.js";
