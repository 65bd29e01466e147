// The code that is loaded when a GGUF file is opened.

import type * as eg from "edgegrad";
import { readHeader } from "../../../gguf/read.js";
import type { PartProgress } from "../read_quantized.js";
import { type GgufModel, modelIn } from "./config.js";
import { type TokenizerValues, tokenizerIn } from "./tokenizer.js";
import { factorsIn, GgufWeights } from "./weights.js";

/** A model in a GGUF file. */
export interface OpenedGguf extends GgufModel {
  readonly weights: GgufWeights;
}

/** Reads the header of a file; its weights are read later. */
export async function openModel(
  file: eg.io.ByteReader,
  progress: PartProgress,
): Promise<OpenedGguf> {
  const header = await readHeader("fromPretrained", file);
  const model = modelIn(header, await factorsIn(file, header));
  const weights = new GgufWeights(file, header, model, progress);
  return { ...model, weights };
}

/** Reads what a file says about its tokenizer. */
export async function readTokenizer(file: eg.io.ByteReader): Promise<TokenizerValues> {
  return tokenizerIn(await readHeader("AutoTokenizer.fromPretrained", file));
}
