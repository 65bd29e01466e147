// edgegrad/transformers: models in the layout of Hugging Face's files, to run and to train.

export {
  type AnswerModel,
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForCTC,
  AutoModelForImageClassification,
  AutoModelForImageTextToText,
  AutoModelForMaskedLM,
  AutoModelForQuestionAnswering,
  AutoModelForSeq2SeqLM,
  AutoModelForSequenceClassification,
  AutoModelForSpeechSeq2Seq,
  AutoModelForTokenClassification,
  type AutoModelOf,
  type FeatureModel,
  type ImageClassifier,
  type SequenceClassifier,
  type SpeechRecognizer,
  type TokenClassifierModel,
} from "./auto.js";
export { KeyValueCache } from "./blocks/cache.js";
export type { ConfigValues } from "./config/config.js";
export {
  type DatasetOptions,
  loadDataset,
  type ParquetReader,
  type Row,
} from "./datasets/load_dataset.js";
export { ClipModel, type ClipOptions, type ClipOutput } from "./families/clip.js";
export { supportedModels } from "./families/index.js";
export type { FromPretrainedOptions } from "./files/load.js";
export type { ModelSource } from "./files/model_source.js";
export type {
  AbortSignalLike,
  Decoder,
  GenerateOptions,
  LogitsProcessor,
  StoppingCriteria,
  Streamer,
} from "./generation/options.js";
export { AutoImageProcessor } from "./images/auto_image_processor.js";
export type { ImageLike, ImageProcessor, ProcessOptions } from "./images/types.js";
export { type FeaturesOutput, type ModelOutput, PreTrainedModel } from "./model.js";
export { AutoFeatureExtractor } from "./speech/auto_feature_extractor.js";
export type {
  ExtractOptions,
  FeatureExtractor,
  Samples,
  SpeechBatch,
} from "./speech/samples.js";
export type { Wav2Vec2FeatureExtractor } from "./speech/wav2vec2_extractor.js";
export { WhisperFeatureExtractor } from "./speech/whisper_extractor.js";
export { CausalLanguageModel, type CausalOutput } from "./tasks/causal.js";
export { Classifier, type ClassifierOutput } from "./tasks/classifier.js";
export type { CtcOptions, CtcOutput } from "./tasks/ctc.js";
export type {
  ImageInputs,
  ImageTextGenerateOptions,
  ImageTextModel,
  ImageTextOptions,
} from "./tasks/image_text.js";
export type {
  AnswerOptions,
  CausalOptions,
  DecoderOptions,
  EncoderOptions,
  ImageOptions,
  MaskedOptions,
  TextClassifierOptions,
} from "./tasks/inputs.js";
export { MaskedLanguageModel, type MaskedOutput } from "./tasks/masked.js";
export {
  type Seq2SeqGenerateOptions,
  Seq2SeqModel,
  type Seq2SeqOptions,
  type Seq2SeqOutput,
} from "./tasks/seq2seq.js";
export type { SpeechGenerateOptions, SpeechModel } from "./tasks/speech.js";
export type { AnswerOutput } from "./tasks/token_heads.js";
export { AutoTokenizer, type TokenizerOptions } from "./tokenizer/auto_tokenizer.js";
export type { BatchOptions, TextBatch, TextOrPair } from "./tokenizer/batch.js";
export type {
  TemplateClass,
  TemplateLike,
  TokenizerClass,
  TokenizerLike,
} from "./tokenizer/library.js";
export { TextStreamer } from "./tokenizer/text_streamer.js";
export {
  type ChatMessage,
  type ChatOptions,
  type EncodeOptions,
  PreTrainedTokenizer,
} from "./tokenizer/tokenizer.js";
export {
  type CollatorOptions,
  DataCollatorForLanguageModeling,
  type LanguageBatch,
  type MaskingOptions,
} from "./training/collator.js";
export {
  DataCollatorForPreference,
  type DpoLoss,
  type DpoOptions,
  dpoLoss,
  type Preference,
} from "./training/dpo.js";
export {
  answerExample,
  type Example,
  type PackOptions,
  packExamples,
} from "./training/examples.js";
export {
  type BatchLoss,
  type CheckpointOptions,
  type FitOptions,
  type FitResult,
  fit,
  type OptimizerLike,
  type SchedulerLike,
  type StepReport,
} from "./training/fit.js";
