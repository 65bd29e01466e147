// eg.nn: modules, layers and losses.

export * from "./activations/index.js";
export * from "./attention/index.js";
export * from "./containers/index.js";
export * from "./conv/index.js";
export * from "./dropout/index.js";
export * as functional from "./functional.js";
export * as init from "./init.js";
export type { LayerOptions } from "./layer_options.js";
export * from "./linear/index.js";
export type { LoadResult } from "./load_state.js";
export {
  type AdaptiveLogSoftmaxOptions,
  AdaptiveLogSoftmaxWithLoss,
} from "./losses/adaptive_log_softmax.js";
export { CTCLoss, type CTCLossOptions, type Lengths } from "./losses/ctc_loss.js";
export {
  GaussianNLLLoss,
  type GaussianNLLLossOptions,
  PoissonNLLLoss,
  type PoissonNLLLossOptions,
} from "./losses/likelihood_losses.js";
export {
  BCELoss,
  type BCELossOptions,
  BCEWithLogitsLoss,
  type BCEWithLogitsLossOptions,
  CrossEntropyLoss,
  type CrossEntropyLossOptions,
  HuberLoss,
  type HuberLossOptions,
  KLDivLoss,
  type KLDivLossOptions,
  L1Loss,
  type LossOptions,
  MSELoss,
  NLLLoss,
  type NLLLossOptions,
  type Reduction,
  SmoothL1Loss,
  type SmoothL1LossOptions,
} from "./losses/losses.js";
export {
  CosineEmbeddingLoss,
  HingeEmbeddingLoss,
  type MarginLossOptions,
  MarginRankingLoss,
  MultiLabelMarginLoss,
  MultiLabelSoftMarginLoss,
  type MultiLabelSoftMarginLossOptions,
  MultiMarginLoss,
  type MultiMarginLossOptions,
  SoftMarginLoss,
  TripletMarginLoss,
  type TripletMarginLossOptions,
} from "./losses/margin_losses.js";
export {
  type DistanceFunction,
  type TripletDistanceOptions,
  TripletMarginWithDistanceLoss,
} from "./losses/triplet_distance_loss.js";
export { Module, type StateDict } from "./module.js";
export type {
  BackwardHookOptions,
  CallOptions,
  ForwardHook,
  ForwardHookOptions,
  ForwardHookWithOptions,
  ForwardPreHook,
  ForwardPreHookWithOptions,
  FullBackwardHook,
} from "./module_hooks.js";
export * from "./norm/index.js";
export { Buffer, type BufferOptions, Parameter } from "./parameter.js";
export * from "./pooling/index.js";
export * from "./recurrent/index.js";
export * from "./shape/index.js";
export * as utils from "./utils/index.js";
