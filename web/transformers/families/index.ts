// The families by the model_type of config.json.

import type { Config } from "../config/config.js";
import { fail, shown } from "../errors.js";
import { bert } from "./bert.js";
import type { Family } from "./family.js";
import { gpt2 } from "./gpt2.js";
import { llama } from "./llama.js";

const kFamilies: Readonly<Record<string, Family>> = {
  bert,
  gpt2,
  llama,
};

/** Returns the names of the families, as config.json has them in model_type. */
export function supportedModels(): string[] {
  return Object.keys(kFamilies);
}

/** Returns the family of a config. */
export function familyOf(config: Config): Family {
  const { modelType } = config;
  const family = Object.hasOwn(kFamilies, modelType) ? kFamilies[modelType] : undefined;
  if (family !== undefined) return family;
  const known = supportedModels().join(", ");
  return fail(
    "InvalidArgument",
    "fromPretrained",
    `config.json: model_type is ${shown(modelType)}, which is not implemented; it may be ${known}.`,
  );
}
