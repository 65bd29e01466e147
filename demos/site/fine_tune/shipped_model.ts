// The model that the page has: pretraining/run.mjs trains it.

import config from "./model/config.json?url";
import weights from "./model/model.safetensors?url";
import tokenizer from "./model/tokenizer.json?url";
import tokenizerConfig from "./model/tokenizer_config.json?url";

const kFiles = {
  "config.json": config,
  "model.safetensors": weights,
  "tokenizer.json": tokenizer,
  "tokenizer_config.json": tokenizerConfig,
};

/** Loads the files of the model. */
export async function shippedModel(): Promise<Record<string, Blob>> {
  const load = async ([name, url]: [string, string]) => {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${name}: the server answered with status ${answer.status}`);
    return [name, await answer.blob()] as const;
  };
  return Object.fromEntries(await Promise.all(Object.entries(kFiles).map(load)));
}
