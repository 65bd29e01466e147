// edgegrad/transformers: models in the layout of Hugging Face's files, to run and to train.

export {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForSequenceClassification,
  type AutoModelOf,
  type FeatureModel,
  type ImageClassifier,
  type SequenceClassifier,
} from "./auto.js";
export { KeyValueCache } from "./blocks/cache.js";
export type { ConfigValues } from "./config/config.js";
export { supportedModels } from "./families/index.js";
export type { FromPretrainedOptions } from "./files/load.js";
export type { AbortSignalLike, GenerateOptions, Streamer } from "./generation/generate.js";
export { type FeaturesOutput, type ModelOutput, PreTrainedModel } from "./model.js";
export { CausalLanguageModel, type CausalOutput } from "./tasks/causal.js";
export { Classifier, type ClassifierOutput } from "./tasks/classifier.js";
export type {
  CausalOptions,
  DecoderOptions,
  EncoderOptions,
  ImageOptions,
  TextClassifierOptions,
} from "./tasks/inputs.js";
