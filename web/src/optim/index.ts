// eg.optim: optimizers and learning-rate schedulers.

export { Adagrad, type AdagradSettings } from "./adagrad.js";
export { Adam, type AdamSettings, AdamW } from "./adam.js";
export * as lrScheduler from "./lr_scheduler/index.js";
export { Optimizer, type OptimizerState, type ParamGroup, type Params } from "./optimizer.js";
export { RMSprop, type RMSpropSettings } from "./rmsprop.js";
export { SGD, type SGDSettings } from "./sgd.js";
