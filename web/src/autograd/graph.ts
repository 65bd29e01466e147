// eg.autograd.graph: hooks for observing and changing what backward does.

export { queueCallback } from "./backward_callbacks.js";
export { type MultiGradHook, registerMultiGradHook } from "./multi_grad_hook.js";
export { getGradientEdge } from "./node.js";
export type { GradientEdge } from "./run.js";
export {
  disableSavedTensorsHooks,
  type Pack,
  savedTensorsHooks,
  saveOnCpu,
  type Unpack,
} from "./saved_tensors.js";
