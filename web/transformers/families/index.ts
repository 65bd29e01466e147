// The families by the model_type of config.json.

import { describe, fail } from "../../errors/errors.js";
import type { Config } from "../config/config.js";
import type { Family } from "./family.js";

// Each is loaded when a model needs it.
const kFamilies: Readonly<Record<string, () => Promise<Family>>> = {
  bert: async () => (await import("./bert.js")).bert,
  clip: async () => (await import("./clip.js")).clip,
  "deberta-v2": async () => (await import("./deberta_v2.js")).debertaV2,
  dinov2: async () => (await import("./dinov2.js")).dinov2,
  distilbert: async () => (await import("./distilbert.js")).distilbert,
  falcon: async () => (await import("./falcon.js")).falcon,
  gemma2: async () => (await import("./gemma.js")).gemma2,
  gemma3: async () => (await import("./gemma3.js")).gemma3,
  gemma3_text: async () => (await import("./gemma.js")).gemma3Text,
  gpt2: async () => (await import("./gpt2.js")).gpt2,
  gpt_neox: async () => (await import("./gpt_neox.js")).gptNeoX,
  granite: async () => (await import("./granite.js")).granite,
  llama: async () => (await import("./llama.js")).llama,
  mistral: async () => (await import("./mistral.js")).mistral,
  modernbert: async () => (await import("./modernbert.js")).modernbert,
  moonshine: async () => (await import("./moonshine.js")).moonshine,
  mpnet: async () => (await import("./mpnet.js")).mpnet,
  mt5: async () => (await import("./t5.js")).mt5,
  olmo2: async () => (await import("./olmo2.js")).olmo2,
  phi3: async () => (await import("./phi3.js")).phi3,
  qwen2: async () => (await import("./qwen.js")).qwen2,
  qwen3: async () => (await import("./qwen.js")).qwen3,
  roberta: async () => (await import("./roberta.js")).roberta,
  siglip: async () => (await import("./siglip.js")).siglip,
  smollm3: async () => (await import("./smollm3.js")).smollm3,
  stablelm: async () => (await import("./stablelm.js")).stablelm,
  t5: async () => (await import("./t5.js")).t5,
  vit: async () => (await import("./vit.js")).vit,
  wav2vec2: async () => (await import("./wav2vec2.js")).wav2vec2,
  whisper: async () => (await import("./whisper.js")).whisper,
  "xlm-roberta": async () => (await import("./roberta.js")).roberta,
};

/** Returns the names of the families, as config.json has them in model_type. */
export function supportedModels(): string[] {
  return Object.keys(kFamilies);
}

/** Loads the family of a config. */
export async function familyOf(config: Config): Promise<Family> {
  const { modelType } = config;
  const load = Object.hasOwn(kFamilies, modelType) ? kFamilies[modelType] : undefined;
  if (load !== undefined) return load();
  const known = supportedModels().join(", ");
  return fail(
    "InvalidArgument",
    "fromPretrained",
    `config.json: model_type is ${describe(modelType)}, which is not implemented; it may be ${known}.`,
  );
}
