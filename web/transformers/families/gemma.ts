// Gemma 2 and Gemma 3: norms before and after each sublayer, sliding windows, and soft caps or normalized heads.

import { activationOf } from "../blocks/activations.js";
import { GemmaRMSNorm } from "../blocks/norms.js";
import { isByLayerType, rotarySpec, scalingOf } from "../blocks/rotary.js";
import type { Config } from "../config/config.js";
import type { DecoderSpec } from "./decoder.js";
import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";
import { decoderSpec } from "./llama.js";
import { windowsOf } from "./windows.js";

function gemmaSpec(config: Config, isSliding: (index: number) => boolean): DecoderSpec {
  const bias = config.flag("attention_bias", false);
  const eps = config.number("rms_norm_eps", 1e-6);
  // An older key, which these families ignore.
  config.raw("hidden_act");
  const spec = decoderSpec(config, { headSize: 256 });
  return {
    ...spec,
    biases: { query: bias, output: bias, mlp: false },
    activation: activationOf(config, "hidden_activation", "gelu_pytorch_tanh"),
    norm: (size) => new GemmaRMSNorm(size, eps),
    norms: "around",
    scale: config.number("query_pre_attn_scalar", 256) ** -0.5,
    softcap: config.numberOrNull("attn_logit_softcapping"),
    embeddingScale: Math.sqrt(spec.hidden),
    windows: windowsOf(config, spec.layers, config.size("sliding_window", 4096), isSliding),
  };
}

/** Gemma 2. */
export const gemma2: Family = decoderFamily(
  (config) => gemmaSpec(config, (i) => i % 2 === 0),
  true,
);

/** Returns the layers of Gemma 3; those with a sliding window have their own rotary angles. */
export function gemma3Spec(config: Config): DecoderSpec {
  config.only("use_bidirectional_attention", false);
  const pattern = config.size("sliding_window_pattern", config.size("_sliding_window_pattern", 6));
  const spec = gemmaSpec(config, (i) => (i + 1) % pattern !== 0);
  const scaling = isByLayerType(config) ? scalingOf(config, "sliding_attention") : null;
  const local = rotarySpec({
    size: spec.headSize,
    base: config.number("rope_local_base_freq", scaling?.number("rope_theta", 10000) ?? 10000),
    scaling,
    trained: config.size("max_position_embeddings", 131072),
  });
  return {
    ...spec,
    headNorms: "each",
    rotary: spec.rotary.map((rotary, i) => (spec.windows[i] === null ? rotary : local)),
  };
}

/** Gemma 3 for texts. */
export const gemma3Text: Family = decoderFamily(gemma3Spec, true);
