// eg.autograd.graph: hooks for observing and changing what backward does.

export { queueCallback } from "./backward_callbacks.js";
export { type MultiGradHook, registerMultiGradHook } from "./multi_grad_hook.js";
export {
  allowMutationOnSavedTensors,
  type MutationContext,
} from "./mutable_saved_tensors.js";
export { getGradientEdge, type InputMetadata } from "./node.js";
export type { GradientEdge } from "./run.js";
export {
  disableSavedTensorsHooks,
  type Pack,
  type SaveOnCpuOptions,
  savedTensorsHooks,
  saveOnCpu,
  type Unpack,
} from "./saved_tensors.js";
export { incrementVersion, unsafePreserveVersionCounter } from "./versions.js";
