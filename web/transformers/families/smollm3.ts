// SmolLM3: Llama, with some layers that use no positions.

import type { RotarySpec } from "../blocks/rotary.js";
import type { Config } from "../config/config.js";
import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { biasesOf, decoderSpec } from "./llama.js";
import { windowsOf } from "./windows.js";

/** SmolLM3. */
export const smollm3: Family = decoderFamily((config) => {
  const spec = decoderSpec(config);
  const isUsed = config.flag("use_sliding_window", false);
  const window = config.sizeOrNull("sliding_window");
  return {
    ...spec,
    biases: biasesOf(config),
    rotary: rotaryOfLayers(config, spec.rotary),
    windows: windowsOf(config, spec.layers, isUsed ? window : null, () => true),
  };
}, true);

function rotaryOfLayers(
  config: Config,
  rotary: readonly (RotarySpec | null)[],
): readonly (RotarySpec | null)[] {
  const every = config.size("no_rope_layer_interval", 4);
  // 1 for a layer with positions.
  const listed = config.wholesOrNull("no_rope_layers", rotary.length);
  return rotary.map((layer, i) => ((listed ? listed[i] : (i + 1) % every) ? layer : null));
}
