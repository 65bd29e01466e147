// eg.func: function transforms, as in torch.func.

export { replaceAllBatchNormModules_ } from "./batch_norm.js";
export {
  type FunctionalCallOptions,
  functionalCall,
  stackModuleState,
  type TensorsByName,
} from "./functional_call.js";
export { grad, gradAndValue, type VjpFunction, vjp } from "./grad.js";
export {
  type InterceptOptions,
  interceptOps,
  type OpCall,
  type OpHandler,
  type OpResult,
} from "./intercept_ops.js";
export { hessian, type JacfwdOptions, type JacrevOptions, jacfwd, jacrev } from "./jacobian.js";
export { type JvpOptions, jvp, linearize } from "./linearize.js";
export type { Tree } from "./pytree.js";
export type { GradOptions } from "./trace.js";
export { type Dims, type VmapOptions, vmap } from "./vmap.js";
