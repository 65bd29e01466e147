// The adapter that the page opens with, which finished/train.ts has trained.

import config from "./adapter_config.json?url";
import weights from "./adapter_model.safetensors?url";
import lesson from "./lesson.json";

/** A lesson: its loss by step, and what was said before it and meanwhile. */
export interface Finished {
  readonly steps: number;
  readonly trained: number;
  readonly points: readonly (readonly [step: number, loss: number])[];
  readonly said: readonly { readonly step: number | null; readonly text: string }[];
}

/** The lesson with which the page opens. */
export const kFinished = lesson as unknown as Finished;

/** Loads the files of its adapter. */
export async function finishedAdapter(): Promise<Record<string, Blob>> {
  const load = async ([name, url]: [string, string]) => [name, await (await fetch(url)).blob()];
  const files = { "adapter_config.json": config, "adapter_model.safetensors": weights };
  return Object.fromEntries(await Promise.all(Object.entries(files).map(load)));
}
