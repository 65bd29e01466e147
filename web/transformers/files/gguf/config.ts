// config.json and generation_config.json from the metadata of a GGUF file.

import { describe, fail } from "../../../errors/errors.js";
import { type Architecture, type HeadSizes, kArchitectures } from "../../../gguf/names.js";
import type { GgufHeader } from "../../../gguf/read.js";
import type { GgufValue } from "../../../gguf/types.js";
import type { ConfigValues } from "../../config/config.js";

const kWhere = "fromPretrained";

/** What the metadata says about a model. */
export interface GgufModel {
  readonly architecture: Architecture;
  readonly sizes: HeadSizes;
  readonly config: ConfigValues;
  readonly generationConfig: ConfigValues;
}

/** Reads the metadata of an architecture. */
class Metadata {
  constructor(
    private readonly header: GgufHeader,
    readonly name: string,
  ) {}

  raw(key: string): GgufValue | undefined {
    return this.header.metadata.get(key.replace("#", this.name));
  }

  number(key: string, fallback?: number): number {
    const value = this.raw(`#.${key}`);
    if (value === undefined && fallback !== undefined) return fallback;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    const list = listOf(value);
    const isSame = list !== null && list.length > 0 && list.every((item) => item === list[0]);
    if (isSame && typeof list[0] === "number") return list[0];
    return this.refuse(`${this.name}.${key}: expected a number, got ${describe(value)}`);
  }

  numberOrNull(key: string): number | null {
    return this.raw(`#.${key}`) === undefined ? null : this.number(key);
  }

  has(tensor: string): boolean {
    return this.header.tensors.has(tensor);
  }

  rows(tensor: string): number {
    return this.header.tensors.get(tensor)?.shape[0] ?? 0;
  }

  refuse(problem: string): never {
    return fail("InvalidArgument", kWhere, `the metadata of the GGUF file: ${problem}.`);
  }
}

function listOf(value: GgufValue | undefined): readonly GgufValue[] | null {
  return typeof value === "object" ? Array.from(value as ArrayLike<GgufValue>) : null;
}

/** Reads the metadata; `factors` are the numbers of tensors that scale rotary positions. */
export function modelIn(
  header: GgufHeader,
  factors: Readonly<Record<string, readonly number[]>>,
): GgufModel {
  const name = header.metadata.get("general.architecture");
  const kind = header.metadata.get("general.type") ?? "model";
  const parts = header.metadata.get("split.count") ?? 0;
  const known = Object.keys(kArchitectures).join(", ");
  const architecture =
    typeof name === "string" && Object.hasOwn(kArchitectures, name) ? kArchitectures[name] : null;
  const meta = new Metadata(header, String(name));
  if (kind !== "model") meta.refuse(`general.type is ${describe(kind)}; expected "model"`);
  if ((parts as number) > 1) {
    meta.refuse(`this is one of ${parts} parts; join them with "llama-gguf-split --merge"`);
  }
  if (!architecture) {
    const got = describe(name);
    return meta.refuse(
      `general.architecture is ${got}, which is not implemented; it may be ${known}`,
    );
  }
  if (meta.number("expert_count", 0) > 0) meta.refuse("mixtures of experts are not implemented");
  const blocks = meta.number("block_count");
  if (blocks > header.tensors.size)
    meta.refuse(`${blocks} blocks need more tensors than there are`);
  const heads = meta.number("attention.head_count");
  const sizes = { heads, groups: meta.number("attention.head_count_kv", heads) };
  const own = (kConfigs[String(name)] ?? decoderConfig)(meta, factors);
  const token = (key: string) => meta.raw(`tokenizer.ggml.${key}_token_id`);
  const ends = [...new Set([token("eos"), token("eot")].filter((token) => token !== undefined))];
  const tokens = without({ bos_token_id: token("bos"), pad_token_id: token("padding") });
  return {
    architecture,
    sizes,
    config: without({
      model_type: architecture.modelType,
      ...own,
      ...tokens,
      eos_token_id: token("eos"),
    }),
    generationConfig: without({
      ...tokens,
      eos_token_id: ends.length > 1 ? ends : ends[0],
    }),
  };
}

const without = (values: ConfigValues): ConfigValues =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );

type Factors = Readonly<Record<string, readonly number[]>>;
type ConfigOf = (meta: Metadata, factors: Factors) => ConfigValues;

function decoderConfig(meta: Metadata, factors: Factors): ConfigValues {
  const hidden = meta.number("embedding_length");
  const heads = meta.number("attention.head_count");
  const size = meta.numberOrNull("attention.key_length");
  const headSize = size ?? hidden / heads;
  if (meta.number("attention.value_length", headSize) !== headSize) {
    meta.refuse("keys and values of different sizes are not implemented");
  }
  const rotated = meta.number("rope.dimension_count", headSize);
  return {
    hidden_size: hidden,
    intermediate_size: meta.number("feed_forward_length"),
    num_hidden_layers: meta.number("block_count"),
    num_attention_heads: heads,
    num_key_value_heads: meta.number("attention.head_count_kv", heads),
    max_position_embeddings: meta.number("context_length"),
    vocab_size: meta.rows("token_embd.weight"),
    tie_word_embeddings: !meta.has("output.weight"),
    rope_theta: meta.number("rope.freq_base", 10000),
    rms_norm_eps: meta.numberOrNull("attention.layer_norm_rms_epsilon"),
    head_dim: size,
    partial_rotary_factor: rotated / headSize,
    rope_scaling: ropeScaling(meta, factors),
  };
}

function ropeScaling(meta: Metadata, factors: Factors): ConfigValues | null {
  const long = factors["rope_factors_long.weight"];
  const short = factors["rope_factors_short.weight"];
  const trained = meta.numberOrNull("rope.scaling.original_context_length");
  const attention = meta.numberOrNull("rope.scaling.attn_factor");
  if (long && short) {
    return without({
      rope_type: "longrope",
      long_factor: long,
      short_factor: short,
      original_max_position_embeddings: trained,
      attention_factor: attention,
    });
  }
  const always = factors["rope_freqs.weight"];
  if (always) {
    return {
      rope_type: "longrope",
      long_factor: always,
      short_factor: always,
      original_max_position_embeddings: meta.number("context_length"),
      attention_factor: 1,
    };
  }
  const factor = meta.numberOrNull("rope.scaling.factor") ?? meta.numberOrNull("rope.scale_linear");
  const type = meta.raw("#.rope.scaling.type") ?? (factor === null ? "none" : "linear");
  if (type === "none" || factor === null || factor === 0) return null;
  if (type === "linear") return { rope_type: "linear", factor };
  if (type !== "yarn")
    meta.refuse(`rope.scaling.type is ${describe(type)}, which is not implemented`);
  return without({
    rope_type: "yarn",
    factor,
    original_max_position_embeddings: trained,
    attention_factor: attention === 1 ? null : attention,
  });
}

// Llama's projections may have biases, which config.json has to say.
const biased: ConfigOf = (meta, factors) => ({
  ...decoderConfig(meta, factors),
  attention_bias: meta.has("blk.0.attn_q.bias"),
  mlp_bias: meta.has("blk.0.ffn_up.bias"),
});

// Files do not say how scores of attention are scaled: by the size of a head, but in the largest model, whose number of layers is `largest`.
function gemmaConfig(meta: Metadata, factors: Factors, largest: number): ConfigValues {
  const config = decoderConfig(meta, factors);
  const isLargest = config.num_hidden_layers === largest;
  const share = Number(config.hidden_size) / Number(config.num_attention_heads);
  return {
    ...config,
    query_pre_attn_scalar: isLargest ? share : (config.head_dim ?? share),
    head_dim: config.head_dim ?? share,
    sliding_window: meta.numberOrNull("attention.sliding_window"),
    final_logit_softcapping: meta.numberOrNull("final_logit_softcapping"),
    attn_logit_softcapping: meta.numberOrNull("attn_logit_softcapping"),
  };
}

const kConfigs: Readonly<Record<string, ConfigOf>> = {
  bert: (meta) => ({
    vocab_size: meta.rows("token_embd.weight"),
    type_vocab_size: meta.rows("token_types.weight"),
    max_position_embeddings: meta.rows("position_embd.weight"),
    hidden_size: meta.number("embedding_length"),
    intermediate_size: meta.number("feed_forward_length"),
    num_hidden_layers: meta.number("block_count"),
    num_attention_heads: meta.number("attention.head_count"),
    layer_norm_eps: meta.number("attention.layer_norm_epsilon", 1e-12),
  }),
  gemma2: (meta, factors) => gemmaConfig(meta, factors, 46),
  gemma3: (meta, factors) => ({
    ...gemmaConfig(meta, factors, 62),
    rope_local_base_freq: meta.number("rope.freq_base_swa", 10000),
  }),
  gpt2: (meta) => ({
    vocab_size: meta.rows("token_embd.weight"),
    n_positions: meta.rows("position_embd.weight"),
    n_embd: meta.number("embedding_length"),
    n_inner: meta.number("feed_forward_length"),
    n_layer: meta.number("block_count"),
    n_head: meta.number("attention.head_count"),
    layer_norm_epsilon: meta.number("attention.layer_norm_epsilon", 1e-5),
    tie_word_embeddings: !meta.has("output.weight"),
  }),
  gptneox: (meta) => {
    const hidden = meta.number("embedding_length");
    const heads = meta.number("attention.head_count");
    return {
      vocab_size: meta.rows("token_embd.weight"),
      hidden_size: hidden,
      intermediate_size: meta.number("feed_forward_length"),
      num_hidden_layers: meta.number("block_count"),
      num_attention_heads: heads,
      max_position_embeddings: meta.number("context_length"),
      rotary_pct: meta.number("rope.dimension_count", hidden / heads) / (hidden / heads),
      rotary_emb_base: meta.number("rope.freq_base", 10000),
      use_parallel_residual: meta.raw("#.use_parallel_residual") !== false,
      layer_norm_eps: meta.number("attention.layer_norm_epsilon", 1e-5),
    };
  },
  granite: (meta, factors) => ({
    ...biased(meta, factors),
    embedding_multiplier: meta.numberOrNull("embedding_scale"),
    attention_multiplier: meta.numberOrNull("attention.scale"),
    residual_multiplier: meta.numberOrNull("residual_scale"),
    logits_scaling: meta.numberOrNull("logit_scale"),
  }),
  llama: biased,
  phi3: (meta, factors) => ({
    ...decoderConfig(meta, factors),
    sliding_window: meta.number("attention.sliding_window", 0) || null,
  }),
  qwen3: (meta, factors) => ({
    ...decoderConfig(meta, factors),
    attention_bias: meta.has("blk.0.attn_q.bias"),
  }),
  smollm3: biased,
  stablelm: (meta, factors) => ({
    ...decoderConfig(meta, factors),
    layer_norm_eps: meta.number("attention.layer_norm_epsilon", 1e-5),
    use_parallel_residual: meta.raw("#.use_parallel_residual") === true,
    use_qkv_bias: meta.has("blk.0.attn_q.bias"),
    qk_layernorm: meta.has("blk.0.attn_q_norm.weight"),
  }),
};
