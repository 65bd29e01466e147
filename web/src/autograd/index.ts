// eg.autograd: automatic differentiation and the tools around it.

export { type AnomalyOptions, detectAnomaly } from "./anomaly.js";
export { type CheckpointOptions, checkpoint } from "./checkpoint/checkpoint.js";
export type { CheckpointContext } from "./checkpoint/contexts.js";
export { setCheckpointDebugEnabled, setCheckpointEarlyStop } from "./checkpoint/modes.js";
export {
  CheckpointPolicy,
  type CheckpointPolicyFn,
  createSelectiveCheckpointContexts,
  type SelectiveCheckpointOptions,
} from "./checkpoint/selective.js";
export {
  type CheckpointSequentialOptions,
  checkpointSequential,
  type SequentialPart,
} from "./checkpoint/sequential.js";
export * as forwardAd from "./forward_ad.js";
export { Function, FunctionContext, type FunctionGradients, type VmapInfo } from "./function.js";
export * as functional from "./functional/index.js";
export {
  type BackwardAllAsyncOptions,
  type BackwardAllOptions,
  backward,
  backwardAsync,
  type GradAsyncOptions,
  type GradOptions,
  grad,
  gradAsync,
} from "./grad.js";
export {
  type GradcheckOptions,
  type GradgradcheckOptions,
  gradcheck,
  gradgradcheck,
} from "./gradcheck/gradcheck.js";
export * as graph from "./graph.js";
export { type Profile, type ProfileEvent, profile } from "./profile.js";
export type { BackwardAsyncOptions, BackwardOptions } from "./run.js";
export { type DotOptions, toDot } from "./to_dot.js";
