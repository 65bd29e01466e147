// The class of all models: what they have from their files, and how they are written back.

import * as eg from "edgegrad";
import type { ConfigValues } from "./config/config.js";
import { type FileNames, kNoFileNames } from "./files/names.js";
import { savedFiles } from "./files/save.js";

/** What a model returns. */
export interface ModelOutput {
  /** What the head computes: for language models a score per token of the vocabulary, for classifiers one per class. */
  readonly logits?: eg.Tensor;
  /** The loss, if labels were given. */
  readonly loss?: eg.Tensor;
}

/** What the layers of a model return without a head. */
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
  /** Parameters that are the same as others, by name. */
  tied: Readonly<Record<string, string>> = {};
  /** Keys of a cache do not fit texts of more tokens than that, which have to be read anew; null: they always fit. @internal */
  cacheLimit: number | null = null;
  /** How tensors are called in the files. @internal */
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

  /**
   * Returns the files of the model by name: `config.json` and `model.safetensors`, with the names of tensors that it was read from, and
   * `generation_config.json` if there was one.
   */
  savePretrained(): Promise<Record<string, eg.Bytes>> {
    return savedFiles(this);
  }
}
