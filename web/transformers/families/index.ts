// The families by the model_type of config.json.

import { describe, fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";
import { bert } from "./bert.js";
import { clip } from "./clip.js";
import { distilbert } from "./distilbert.js";
import type { Family } from "./family.js";
import { gemma2, gemma3 } from "./gemma.js";
import { gptNeoX } from "./gpt_neox.js";
import { gpt2 } from "./gpt2.js";
import { llama } from "./llama.js";
import { mistral } from "./mistral.js";
import { phi3 } from "./phi3.js";
import { qwen2, qwen3 } from "./qwen.js";
import { roberta } from "./roberta.js";
import { t5 } from "./t5.js";
import { vit } from "./vit.js";
import { whisper } from "./whisper.js";

const kFamilies: Readonly<Record<string, Family>> = {
  bert,
  clip,
  distilbert,
  gemma2,
  gemma3_text: gemma3,
  gpt2,
  gpt_neox: gptNeoX,
  llama,
  mistral,
  phi3,
  qwen2,
  qwen3,
  roberta,
  t5,
  vit,
  whisper,
  "xlm-roberta": roberta,
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
    `config.json: model_type is ${describe(modelType)}, which is not implemented; it may be ${known}.`,
  );
}
