// Qwen2 and Qwen3: Llama with biases of queries, keys and values, or with per-head norms.

import type { Config } from "../config/config.js";
import type { DecoderSpec } from "./decoder.js";
import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { decoderSpec } from "./llama.js";
import { windowsOf } from "./windows.js";

function qwenSpec(config: Config, headSize?: number): DecoderSpec {
  const spec = decoderSpec(config, { headSize });
  const window = config.sizeOrNull("sliding_window");
  const first = config.whole("max_window_layers", 28);
  const isUsed = config.flag("use_sliding_window", false);
  return {
    ...spec,
    windows: windowsOf(config, spec.layers, isUsed ? window : null, (i) => i >= first),
  };
}

/** Qwen2, including Qwen2.5. */
export const qwen2: Family = decoderFamily((config) => {
  return { ...qwenSpec(config), biases: { query: true, output: false, mlp: false } };
}, false);

/** Qwen3. */
export const qwen3: Family = decoderFamily((config) => {
  const bias = config.flag("attention_bias", false);
  return {
    ...qwenSpec(config, 128),
    biases: { query: bias, output: bias, mlp: false },
    headNorms: "each",
  };
}, false);
