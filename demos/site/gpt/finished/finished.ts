// The model that the page opens with, which finished/train.ts has trained.

import type { Size } from "../../../char_model/model.mjs";
import type { Point } from "../messages.js";
import tiny from "./tiny.json";
import tinyWeights from "./tiny.safetensors?url";

/** A training: its chart, and what the model writes. */
export interface Finished {
  readonly steps: number;
  readonly parameters: number;
  readonly points: readonly Point[];
  readonly sample: string;
}

/** The training of the shipped model of a size; null if none is shipped. */
export function finishedOf(size: Size): Finished | null {
  return size === "tiny" ? tiny : null;
}

/** The weights of the shipped model, as a safetensors file. */
export async function finishedWeights(): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(tinyWeights)).arrayBuffer());
}
