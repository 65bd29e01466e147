// StableLM: Llama with layer norms, and positions on a part of each head's features.

import * as eg from "edgegrad";
import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { decoderSpec } from "./llama.js";

/** StableLM. */
export const stablelm: Family = decoderFamily((config) => {
  config.only("qk_layernorm", false);
  config.only("hidden_dropout", 0);
  const eps = config.number("layer_norm_eps", 1e-5);
  return {
    ...decoderSpec(config, { rotaryShare: 0.25 }),
    biases: { query: config.flag("use_qkv_bias", false), output: false, mlp: false },
    norm: (size) => new eg.nn.LayerNorm(size, { eps }),
    isParallel: config.flag("use_parallel_residual", false),
  };
}, false);
