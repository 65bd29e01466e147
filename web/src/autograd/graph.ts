// eg.autograd.graph: watching and steering what backward does.

export { queueCallback } from "./backward_callbacks.js";
export { type MultiGradHook, registerMultiGradHook } from "./multi_grad_hook.js";
