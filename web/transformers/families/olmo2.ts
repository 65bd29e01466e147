// OLMo 2: Llama that normalizes what attention and the MLP return, and all queries and keys of a token together.

import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { biasesOf, decoderSpec } from "./llama.js";

/** OLMo 2. */
export const olmo2: Family = decoderFamily((config) => {
  const biases = { ...biasesOf(config), mlp: false };
  return { ...decoderSpec(config), biases, norms: "after", headNorms: "all" };
}, false);
