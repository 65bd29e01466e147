// What programs load models by: the task decides about the head, config.json about the architecture.

import type * as eg from "edgegrad";
import type { Task } from "./families/family.js";
import { type FromPretrainedOptions, loadModel } from "./files/load.js";
import type { FeaturesOutput, PreTrainedModel } from "./model.js";
import type { CausalLanguageModel } from "./tasks/causal.js";
import type { Classifier, ClassifierOutput } from "./tasks/classifier.js";
import type { DecoderOptions, ImageOptions, TextClassifierOptions } from "./tasks/inputs.js";
import type { MaskedLanguageModel } from "./tasks/masked.js";
import type { Seq2SeqModel } from "./tasks/seq2seq.js";

/** Loads models for one task. */
export interface AutoModelOf<Model> {
  /**
   * Reads the model of a folder: its path in Node, the address below which its files are, a FileSystemDirectoryHandle, or its files by name
   * (config.json, and model.safetensors or its index with the shards). The model is in evaluation mode. Rejects with InvalidArgument for files that are
   * missing or damaged, and for a config.json that asks for what is not implemented.
   */
  fromPretrained(source: eg.io.FolderSource, options?: FromPretrainedOptions): Promise<Model>;
}

/** A model without a head. */
export type FeatureModel = PreTrainedModel & {
  /** Returns the last hidden states and what else the model computes. */
  forward(input: eg.Tensor, options?: DecoderOptions): FeaturesOutput;
};

/** A model that puts texts into classes. */
export type SequenceClassifier = Classifier & {
  /** Returns the scores of the classes, and the loss if there are labels. */
  forward(ids: eg.Tensor, options?: TextClassifierOptions): ClassifierOutput;
};

/** A model that puts images into classes. */
export type ImageClassifier = Classifier & {
  /** Returns the scores of the classes, and the loss if there are labels. */
  forward(pixels: eg.Tensor, options?: ImageOptions): ClassifierOutput;
};

function autoModel<Model>(task: Task): AutoModelOf<Model> {
  return {
    fromPretrained: async (source, options) => (await loadModel(task, source, options)) as Model,
  };
}

/** Loads the layers of a model without a head. */
export const AutoModel = /* @__PURE__ */ autoModel<FeatureModel>("features");

/** Loads language models that predict the next token. */
export const AutoModelForCausalLM = /* @__PURE__ */ autoModel<CausalLanguageModel>(
  "causal language modelling",
);

/** Loads language models that predict hidden tokens from those before and after. */
export const AutoModelForMaskedLM = /* @__PURE__ */ autoModel<MaskedLanguageModel>(
  "masked language modelling",
);

/** Loads models that put texts into classes. */
export const AutoModelForSequenceClassification =
  /* @__PURE__ */ autoModel<SequenceClassifier>("sequence classification");

/** Loads models that put images into classes. */
export const AutoModelForImageClassification =
  /* @__PURE__ */ autoModel<ImageClassifier>("image classification");

/** Loads models that read a text and write one. */
export const AutoModelForSeq2SeqLM =
  /* @__PURE__ */ autoModel<Seq2SeqModel>("sequence to sequence");

/** Loads models that read speech, as a spectrogram, and write what was said. */
export const AutoModelForSpeechSeq2Seq = /* @__PURE__ */ autoModel<Seq2SeqModel>("speech");
