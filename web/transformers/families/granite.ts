// Granite: Llama with factors for embeddings, scores of attention, what layers add, and the scores of tokens.

import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { biasesOf, decoderSpec } from "./llama.js";

/** Granite. */
export const granite: Family = decoderFamily(
  (config) => ({
    ...decoderSpec(config),
    biases: biasesOf(config),
    embeddingScale: config.number("embedding_multiplier", 1),
    scale: config.number("attention_multiplier", 1),
    residualScale: config.number("residual_multiplier", 1),
    scoreDivisor: config.number("logits_scaling", 1),
  }),
  false,
);
