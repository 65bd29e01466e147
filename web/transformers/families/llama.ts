// Llama, and what similar families share with it. TinyLlama and SmolLM2 have Llama's model_type.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { activationOf } from "../blocks/activations.js";
import { baseOf, rotarySpec, scalingOf, shareOf } from "../blocks/rotary.js";
import type { Config } from "../config/config.js";
import type { DecoderSpec } from "./decoder.js";
import { decoderFamily } from "./decoder_tasks.js";
import type { Family } from "./family.js";

/** The family's defaults for config.json. */
interface Defaults {
  /** The default of head_dim. */
  readonly headSize?: number | undefined;
  /** The default of partial_rotary_factor. */
  readonly rotaryShare?: number | undefined;
  /** The number of positions before the model was extended, if config.json has it outside of rope_scaling. */
  readonly original?: number | null;
}

/** Reads the keys of config.json that all these families have. */
export function decoderSpec(
  config: Config,
  { headSize, rotaryShare = 1, original = null }: Defaults = {},
): DecoderSpec {
  const hidden = config.size("hidden_size");
  const layers = config.size("num_hidden_layers");
  const heads = config.size("num_attention_heads");
  const groups = config.size("num_key_value_heads", heads);
  const size = config.size("head_dim", headSize ?? hidden / heads);
  if (heads % groups !== 0) {
    fail(
      "InvalidArgument",
      "fromPretrained",
      `config.json: num_attention_heads (${heads}) is not a multiple of num_key_value_heads (${groups}).`,
    );
  }
  if (!Number.isInteger(size)) {
    const message = "hidden_size is not a multiple of num_attention_heads";
    fail("InvalidArgument", "fromPretrained", `config.json: ${message}.`);
  }
  const eps = config.number("rms_norm_eps", 1e-6);
  const scaling = scalingOf(config);
  const share = shareOf(config, scaling, rotaryShare);
  const rotary = rotarySpec({
    size: Math.floor(size * share),
    base: baseOf(config, scaling),
    scaling,
    trained: config.size("max_position_embeddings", 2048),
    original,
  });
  return {
    vocabulary: config.size("vocab_size"),
    hidden,
    intermediate: config.size("intermediate_size"),
    layers,
    heads,
    groups,
    headSize: size,
    paddingToken: paddingTokenOf(config),
    biases: { query: false, output: false, mlp: false },
    activation: activationOf(config, "hidden_act", "silu"),
    norm: (width) => new eg.nn.RMSNorm(width, eps),
    headNorms: "none",
    norms: "before",
    isParallel: false,
    isFused: false,
    scale: size ** -0.5,
    softcap: null,
    embeddingScale: 1,
    windows: new Array(layers).fill(null),
    rotary: new Array(layers).fill(rotary),
    residualScale: 1,
    scoreDivisor: 1,
    dropout: { attention: config.share("attention_dropout", 0), residual: 0 },
  };
}

/** Returns the padding token, or null; files also write "none" as -1. */
export function paddingTokenOf(config: Config): number | null {
  const token = config.has("pad_token_id") ? config.whole("pad_token_id") : -1;
  return token >= 0 && token < config.size("vocab_size") ? token : null;
}

/** Reads which layers have biases. */
export function biasesOf(config: Config): DecoderSpec["biases"] {
  const bias = config.flag("attention_bias", false);
  return { query: bias, output: bias, mlp: config.flag("mlp_bias", false) };
}

/** Llama. */
export const llama: Family = decoderFamily(
  (config) => ({ ...decoderSpec(config), biases: biasesOf(config) }),
  false,
);
