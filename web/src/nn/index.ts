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
  SiLU,
  Softmax,
  type SoftmaxOptions,
  Tanh,
  Unflatten,
} from "./activations.js";
export {
  type AttentionArguments,
  type AttentionOptions,
  MultiheadAttention,
  type MultiheadAttentionOptions,
} from "./attention.js";
export {
  BatchNorm1d,
  BatchNorm2d,
  type BatchNormArguments,
  type BatchNormOptions,
  GroupNorm,
  type GroupNormArguments,
  type GroupNormOptions,
  InstanceNorm2d,
} from "./batch_norm.js";
export { Bilinear } from "./bilinear.js";

export { ModuleList, Sequential, type TensorModule } from "./containers.js";
export {
  Conv1d,
  Conv2d,
  type ConvArguments,
  type ConvOptions,
  ConvTranspose2d,
  type ConvTransposeArguments,
  type ConvTransposeOptions,
  type PaddingMode,
} from "./conv.js";
export { CTCLoss, type CTCLossOptions, type Lengths } from "./ctc_loss.js";
export { Embedding, type EmbeddingOptions } from "./embedding.js";
export * as init from "./init.js";
export { LayerNorm, type LayerNormOptions } from "./layer_norm.js";
export type { LayerOptions } from "./layer_options.js";
export {
  GaussianNLLLoss,
  type GaussianNLLLossOptions,
  PoissonNLLLoss,
  type PoissonNLLLossOptions,
} from "./likelihood_losses.js";
export { Linear, type LinearOptions } from "./linear.js";
export type { LoadResult } from "./load_state.js";
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
} from "./losses.js";
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
} from "./margin_losses.js";
export { Module, type StateDict } from "./module.js";
export type { ForwardHook, ForwardPreHook, FullBackwardHook } from "./module_hooks.js";
export { Buffer, type BufferOptions, Parameter } from "./parameter.js";
export {
  AdaptiveAvgPool2d,
  AvgPool2d,
  type AvgPoolArguments,
  type AvgPoolOptions,
  MaxPool2d,
  type MaxPoolArguments,
  type MaxPoolOptions,
} from "./pooling.js";
export type { RecurrentOptions } from "./recurrent.js";
export { RMSNorm, type RMSNormOptions } from "./rms_norm.js";
export { GRU, type GRUOptions, LSTM, type LSTMOptions, RNN, type RNNOptions } from "./rnn.js";
export {
  type EncoderArguments,
  type EncoderOptions,
  type TransformerActivation,
  TransformerEncoderLayer,
  type TransformerEncoderLayerOptions,
} from "./transformer.js";
export {
  type DistanceFunction,
  type TripletDistanceOptions,
  TripletMarginWithDistanceLoss,
} from "./triplet_distance_loss.js";
export * as utils from "./utils/index.js";
