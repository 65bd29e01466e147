// Mistral: Llama with an optional sliding window.

import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { decoderSpec } from "./llama.js";
import { windowsOf } from "./windows.js";

/** Mistral. */
export const mistral: Family = decoderFamily((config) => {
  const spec = decoderSpec(config);
  const window = config.sizeOrNull("sliding_window");
  return { ...spec, windows: windowsOf(config, spec.layers, window, () => true) };
}, false);
