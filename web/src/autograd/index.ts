// eg.autograd: derivatives and everything around them.

export { type AnomalyOptions, detectAnomaly } from "./anomaly.js";
export { Function, FunctionContext, type FunctionGradients } from "./function.js";
export * as functional from "./functional/index.js";
export { type BackwardAllOptions, backward, type GradOptions, grad } from "./grad.js";
export { type GradcheckOptions, gradcheck, gradgradcheck } from "./gradcheck.js";
export * as graph from "./graph.js";
export type { BackwardOptions } from "./run.js";
