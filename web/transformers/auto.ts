// How programs load models: the task determines the head, and config.json the architecture.

import type * as eg from "edgegrad";
import type { Task } from "./families/family.js";
import { type FromPretrainedOptions, loadModel } from "./files/load.js";
import type { ModelSource } from "./files/model_source.js";
import type { FeaturesOutput, PreTrainedModel } from "./model.js";
import type { CausalLanguageModel } from "./tasks/causal.js";
import type { Classifier, ClassifierOutput } from "./tasks/classifier.js";
import type { CtcOptions, CtcOutput } from "./tasks/ctc.js";
import type { ImageTextModel } from "./tasks/image_text.js";
import type {
  AnswerOptions,
  DecoderOptions,
  ImageOptions,
  TextClassifierOptions,
} from "./tasks/inputs.js";
import type { MaskedLanguageModel } from "./tasks/masked.js";
import type { Seq2SeqModel } from "./tasks/seq2seq.js";
import type { SpeechModel } from "./tasks/speech.js";
import type { AnswerOutput } from "./tasks/token_heads.js";

/** Loads models for one task. */
export interface AutoModelOf<Model> {
  /**
   * Reads a model from a folder: a path in Node, the base address of its files, a FileSystemDirectoryHandle, or the files by name
   * (config.json, and model.safetensors or its index with the shards); or from a GGUF file: its address, its path, a File or its bytes. The
   * model is in evaluation mode. Rejects with InvalidArgument for files that are
   * missing or damaged, and for a config.json with settings that are not implemented.
   */
  fromPretrained(source: ModelSource, options?: FromPretrainedOptions): Promise<Model>;
}

/** A model without a head. */
export type FeatureModel = PreTrainedModel & {
  /** Returns the last hidden states and the other outputs of the model. */
  forward(input: eg.Tensor, options?: DecoderOptions): FeaturesOutput;
};

/** A model that classifies texts. */
export type SequenceClassifier = Classifier & {
  /** Returns the scores of the classes, and the loss if there are labels. */
  forward(ids: eg.Tensor, options?: TextClassifierOptions): ClassifierOutput;
};

/** A model that classifies images. */
export type ImageClassifier = Classifier & {
  /** Returns the scores of the classes, and the loss if there are labels. */
  forward(pixels: eg.Tensor, options?: ImageOptions): ClassifierOutput;
};

function autoModel<Model>(task: Task): AutoModelOf<Model> {
  return {
    fromPretrained: async (source, options) => (await loadModel(task, source, options)) as Model,
  };
}

/** Loads models without a head. */
export const AutoModel = /* @__PURE__ */ autoModel<FeatureModel>("features");

/** Loads language models that predict the next token. */
export const AutoModelForCausalLM = /* @__PURE__ */ autoModel<CausalLanguageModel>(
  "causal language modeling",
);

/** Loads language models that predict masked tokens from those before and after. */
export const AutoModelForMaskedLM = /* @__PURE__ */ autoModel<MaskedLanguageModel>(
  "masked language modeling",
);

/** Loads models that classify texts. */
export const AutoModelForSequenceClassification =
  /* @__PURE__ */ autoModel<SequenceClassifier>("sequence classification");

/** A model that classifies tokens. */
export type TokenClassifierModel = SequenceClassifier;

/** A model that finds answers in texts. */
export type AnswerModel = PreTrainedModel & {
  /** Returns the scores of each token as the first and the last one of the answer, and the loss if both are given. */
  forward(ids: eg.Tensor, options?: AnswerOptions): AnswerOutput;
};

/** Loads models that give each token a class, such as the names of persons and places. */
export const AutoModelForTokenClassification =
  /* @__PURE__ */ autoModel<TokenClassifierModel>("token classification");

/** Loads models that find the answer to a question in a text. */
export const AutoModelForQuestionAnswering =
  /* @__PURE__ */ autoModel<AnswerModel>("question answering");

/** Loads models that classify images. */
export const AutoModelForImageClassification =
  /* @__PURE__ */ autoModel<ImageClassifier>("image classification");

/** Loads language models that see the images in their texts. */
export const AutoModelForImageTextToText =
  /* @__PURE__ */ autoModel<ImageTextModel>("image and text to text");

/** Loads models that read a text and write one. */
export const AutoModelForSeq2SeqLM =
  /* @__PURE__ */ autoModel<Seq2SeqModel>("sequence to sequence");

/** Loads models that transcribe speech, given as a spectrogram. */
export const AutoModelForSpeechSeq2Seq = /* @__PURE__ */ autoModel<SpeechModel>("speech");

/** A model that writes a character, or nothing, for each moment of speech. */
export type SpeechRecognizer = PreTrainedModel & {
  /** Returns the scores of each character at each moment, and the loss if there are labels. */
  forward(samples: eg.Tensor, options?: CtcOptions): CtcOutput;
};

/** Loads models that write a character, or nothing, for each moment of speech, given as samples. */
export const AutoModelForCTC = /* @__PURE__ */ autoModel<SpeechRecognizer>("speech recognition");
