// The base class of all models: the values from their files, and how models are saved.

import * as eg from "edgegrad";
import type { ConfigValues } from "./config/config.js";
import { type FileNames, kNoFileNames } from "./files/names.js";
import { savedFiles } from "./files/save.js";
import { checkOptions, kCount } from "./options.js";

/** What a model returns. */
export interface ModelOutput {
  /** The output of the head: for language models one score per token of the vocabulary, for classifiers one per class. */
  readonly logits?: eg.Tensor;
  /** The loss, if labels were given. */
  readonly loss?: eg.Tensor;
  /** How many labels `loss` is the mean of, as a tensor. */
  readonly lossCount?: eg.Tensor;
}

/** What a model without a head returns. */
export interface FeaturesOutput extends ModelOutput {
  /** The hidden states of the last layer: [batch, tokens, size]. */
  readonly lastHiddenState: eg.Tensor;
  /** One vector per text or image, if the model has a pooler: [batch, size]. */
  readonly poolerOutput?: eg.Tensor;
}

/** A model in the layout of Hugging Face's files. */
export abstract class PreTrainedModel extends eg.nn.Module {
  /** The values of config.json. */
  config: ConfigValues = {};
  /** The values of generation_config.json, if there is one. */
  generationConfig: ConfigValues = {};
  /** Tied parameters: for the name of each, the name of the parameter that it shares. */
  tied: Readonly<Record<string, string>> = {};
  /** The name of the head's matrix, if it is that of the words unless config.json says otherwise. @internal */
  tiedHead: string | null = null;
  /** Texts of more tokens than this cannot use keys that were cached below it; null: no limit. @internal */
  cacheLimit: number | null = null;
  /** The names of tensors in the files. @internal */
  fileNames: FileNames = kNoFileNames;

  abstract override forward(...inputs: never[]): object;

  /** The device of the parameters. */
  get device(): eg.Device {
    return this.parameters()[0]?.device ?? "cpu";
  }

  /** The dtype of the parameters. */
  get dtype(): eg.DType {
    return this.parameters()[0]?.dtype ?? "float32";
  }

  /** Records that the head has the matrix of the words. */
  protected tieHead(head: string, words: string): void {
    this.tied = { ...this.tied, [head]: words };
    this.tiedHead = head;
  }

  /** Returns the matrix that a head needs to compute the same when it is no longer tied. @internal */
  untiedHead(weight: eg.Tensor): eg.Tensor {
    return weight;
  }

  /**
   * Changes the number of tokens that the model knows, for tokens that are added to the vocabulary: the rows of new tokens are the mean of the others.
   * Optimizers and adapters have to be made afterwards.
   */
  async resizeTokenEmbeddings(count: number): Promise<void> {
    checkOptions("resizeTokenEmbeddings", { count }, { count: kCount });
    const { resizeWords } = await import("./blocks/resize.js");
    resizeWords(this, Number(this.config.vocab_size), count);
    this.config = { ...this.config, vocab_size: count };
  }

  /**
   * Returns the files of the model by name: `config.json`, `model.safetensors`, whose tensors have the same names as in the files that the
   * model was loaded from, and `generation_config.json` if there was one.
   */
  savePretrained(): Promise<Record<string, eg.Bytes>> {
    return savedFiles(this);
  }
}
