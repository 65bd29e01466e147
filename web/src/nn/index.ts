// eg.nn: modules, layers and losses.

export * from "./activations/index.js";
export * from "./attention/index.js";
export type { FullBackwardHook, FullBackwardPreHook } from "./backward_hooks.js";
export * from "./containers/index.js";
export * from "./conv/index.js";
export * from "./dropout/index.js";
export * as functional from "./functional/index.js";
export {
  registerModuleForwardHook,
  registerModuleForwardPreHook,
  registerModuleFullBackwardHook,
  registerModuleFullBackwardPreHook,
} from "./global_hooks.js";
export * as grad from "./grad.js";
export * as init from "./init.js";
export type { LayerOptions } from "./layer_options.js";
export * from "./lazy/index.js";
export * from "./linear/index.js";
export type { LoadResult } from "./load_state.js";
export * from "./losses/index.js";
export { Module, type NamedOptions, type StateDict } from "./module.js";
export type {
  BackwardHookOptions,
  CallOptions,
  ForwardHook,
  ForwardHookOptions,
  ForwardHookWithOptions,
  ForwardPreHook,
  ForwardPreHookOptions,
  ForwardPreHookWithOptions,
} from "./module_hooks.js";
export * from "./norm/index.js";
export { Buffer, type BufferOptions, Parameter } from "./parameter.js";
export * from "./pooling/index.js";
export * from "./recurrent/index.js";
export * from "./shape/index.js";
export type {
  LoadStateDictPostHook,
  LoadStateDictPreHook,
  StateDictOptions,
  StateDictPostHook,
  StateDictPreHook,
} from "./state_hooks.js";
export * as utils from "./utils/index.js";
