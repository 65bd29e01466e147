// eg.optim.lrScheduler: learning rates that change during training.

export {
  BaseScheduler,
  type ScheduledGroup,
  type ScheduledOptimizer,
  type SchedulerState,
} from "./base.js";
export {
  ChainedScheduler,
  SequentialLR,
  type SequentialLRArguments,
  type SequentialLROptions,
} from "./combined.js";
export { CyclicLR, type CyclicLROptions, type ScaleFn } from "./cyclic.js";
export {
  ConstantLR,
  type ConstantLROptions,
  ExponentialLR,
  MultiStepLR,
  type MultiStepLROptions,
  PolynomialLR,
  type PolynomialLROptions,
} from "./decay.js";
export { LambdaLR, type LrLambda, MultiplicativeLR } from "./lambda.js";
export { OneCycleLR, type OneCycleLROptions } from "./one_cycle.js";
export { ReduceLROnPlateau, type ReduceLROnPlateauOptions } from "./plateau.js";
export { LRScheduler, type SchedulerOptions } from "./scheduler.js";
export {
  CosineAnnealingLR,
  type CosineAnnealingLROptions,
  LinearLR,
  type LinearLROptions,
  StepLR,
  type StepLROptions,
} from "./simple.js";
export {
  CosineAnnealingWarmRestarts,
  type CosineAnnealingWarmRestartsOptions,
} from "./warm_restarts.js";
