// eg.optim.lrScheduler: learning rates that change as training goes on.

export { OneCycleLR, type OneCycleLROptions } from "./one_cycle.js";
export {
  LRScheduler,
  type ScheduledGroup,
  type ScheduledOptimizer,
  type SchedulerOptions,
  type SchedulerState,
} from "./scheduler.js";
export {
  CosineAnnealingLR,
  type CosineAnnealingLROptions,
  LambdaLR,
  LinearLR,
  type LinearLROptions,
  type LrLambda,
  StepLR,
  type StepLROptions,
} from "./simple.js";
