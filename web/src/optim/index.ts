// eg.optim: optimizers.

export { Adam, type AdamSettings, AdamW } from "./adam.js";
export { Optimizer, type OptimizerState, type ParamGroup, type Params } from "./optimizer.js";
export { SGD, type SGDSettings } from "./sgd.js";
