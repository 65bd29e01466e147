// eg.autograd: derivatives and everything around them.

export * as functional from "./functional/index.js";
export { type BackwardAllOptions, backward, type GradOptions, grad } from "./grad.js";
export { type GradcheckOptions, gradcheck, gradgradcheck } from "./gradcheck.js";
export type { BackwardOptions } from "./run.js";
