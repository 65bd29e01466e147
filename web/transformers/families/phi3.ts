// Phi-3: Llama with fused projections of queries, keys and values, and of both inputs of the gated MLP.

import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { decoderSpec } from "./llama.js";
import { windowsOf } from "./windows.js";

/** Phi-3. */
export const phi3: Family = decoderFamily((config) => {
  config.only("attention_bias", false);
  // The model does not use this dropout.
  config.raw("embd_pdrop");
  const spec = decoderSpec(config, {
    original: config.sizeOrNull("original_max_position_embeddings"),
  });
  return {
    ...spec,
    isFused: true,
    windows: windowsOf(config, spec.layers, config.sizeOrNull("sliding_window"), () => true),
    dropout: { ...spec.dropout, residual: config.share("resid_pdrop", 0) },
  };
}, false);
