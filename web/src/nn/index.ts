// eg.nn: modules, layers and losses.

export {
  Dropout,
  type DropoutOptions,
  Flatten,
  type FlattenOptions,
  GELU,
  type GELUOptions,
  ReLU,
  Sigmoid,
  Tanh,
} from "./activations.js";
export { ModuleList, Sequential, type TensorModule } from "./containers.js";
export { Embedding, type EmbeddingOptions } from "./embedding.js";
export * as init from "./init.js";
export { LayerNorm, type LayerNormOptions } from "./layer_norm.js";
export type { LayerOptions } from "./layer_options.js";
export { Linear, type LinearOptions } from "./linear.js";
export type { LoadResult } from "./load_state.js";
export {
  BCEWithLogitsLoss,
  type BCEWithLogitsLossOptions,
  CrossEntropyLoss,
  type CrossEntropyLossOptions,
  L1Loss,
  type LossOptions,
  MSELoss,
  NLLLoss,
  type NLLLossOptions,
  type Reduction,
} from "./losses.js";
export { Module, type StateDict } from "./module.js";
export type { ForwardHook, ForwardPreHook, FullBackwardHook } from "./module_hooks.js";
export { Parameter } from "./parameter.js";
