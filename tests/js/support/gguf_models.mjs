// The weights of small models as llama.cpp has them: names, orders of rows and metadata, from the weights under Hugging Face's names.

import { stored } from "./gguf_files.mjs";

const kLlama = [
  ["model.embed_tokens", "token_embd"],
  ["model.norm", "output_norm"],
  ["lm_head", "output"],
  ["self_attn.q_proj", "attn_q"],
  ["self_attn.k_proj", "attn_k"],
  ["self_attn.v_proj", "attn_v"],
  ["self_attn.qkv_proj", "attn_qkv"],
  ["self_attn.o_proj", "attn_output"],
  ["self_attn.q_norm", "attn_q_norm"],
  ["self_attn.k_norm", "attn_k_norm"],
  ["mlp.gate_proj", "ffn_gate"],
  ["mlp.gate_up_proj", "ffn_up"],
  ["mlp.up_proj", "ffn_up"],
  ["mlp.down_proj", "ffn_down"],
  ["input_layernorm", "attn_norm"],
];
const kBefore = [["post_attention_layernorm", "ffn_norm"]];
const kAround = [
  ["post_attention_layernorm", "post_attention_norm"],
  ["pre_feedforward_layernorm", "ffn_norm"],
  ["post_feedforward_layernorm", "post_ffw_norm"],
];
const kGpt2 = [
  ["transformer.wte", "token_embd"],
  ["transformer.wpe", "position_embd"],
  ["transformer.ln_f", "output_norm"],
  ["ln_1", "attn_norm"],
  ["attn.c_attn", "attn_qkv"],
  ["attn.c_proj", "attn_output"],
  ["ln_2", "ffn_norm"],
  ["mlp.c_fc", "ffn_up"],
  ["mlp.c_proj", "ffn_down"],
];
const kNeoX = [
  ["gpt_neox.embed_in", "token_embd"],
  ["gpt_neox.final_layer_norm", "output_norm"],
  ["embed_out", "output"],
  ["input_layernorm", "attn_norm"],
  ["attention.query_key_value", "attn_qkv"],
  ["attention.dense", "attn_output"],
  ["post_attention_layernorm", "ffn_norm"],
  ["mlp.dense_h_to_4h", "ffn_up"],
  ["mlp.dense_4h_to_h", "ffn_down"],
];

const kNames = {
  gemma2: [...kLlama, ...kAround],
  gemma3: [...kLlama, ...kAround],
  olmo2: [...kLlama, ...kAround],
  gpt2: kGpt2,
  gptneox: kNeoX,
};

/** llama.cpp's name of a tensor. */
function nameOf(architecture, key) {
  const [, layer, kind] = /^(.*)\.(weight|bias)$/.exec(key);
  const block = /\.(\d+)\.(.*)$/.exec(layer);
  const own = block ? block[2] : layer;
  const [, name] = (kNames[architecture] ?? [...kLlama, ...kBefore]).find(([one]) => one === own);
  return `${block ? `blk.${block[1]}.` : ""}${name}.${kind}`;
}

// Rows of [heads, 2, half] as [heads, half, 2].
function turned(rows, heads) {
  const size = rows.length / heads;
  const half = size / 2;
  const list = [];
  for (let h = 0; h < heads; h++) {
    for (let i = 0; i < half; i++) {
      for (const j of [0, 1]) list.push(rows[h * size + j * half + i]);
    }
  }
  return list;
}

// Rows of [heads, 3, size] as [3, heads, size].
function together(rows, heads) {
  const size = rows.length / heads / 3;
  return [0, 1, 2].flatMap((which) =>
    Array.from({ length: heads }, (_, h) =>
      rows.slice((3 * h + which) * size, (3 * h + which + 1) * size),
    ).flat(),
  );
}

const kTurned = new Set(["llama", "granite", "smollm3"]);

function arranged(architecture, name, rows, { heads, groups }) {
  const isTransposed = /attn_qkv|attn_output|ffn_(?:up|down)/.test(name) && Array.isArray(rows[0]);
  if (architecture === "gpt2" && isTransposed)
    return rows[0].map((_, i) => rows.map((row) => row[i]));
  if (architecture === "gptneox" && /attn_qkv/.test(name)) return together(rows, heads);
  if (/^gemma/.test(architecture) && /norm\.weight$/.test(name)) return rows.map((one) => one + 1);
  if (!kTurned.has(architecture)) return rows;
  if (/attn_q\./.test(name)) return turned(rows, heads);
  return /attn_k\./.test(name) ? turned(rows, groups) : rows;
}

/** Returns the tensors of a file; `typeOf(name, shape)` chooses how each is stored. */
export function ggufTensors(architecture, arrays, sizes, typeOf = () => "F32") {
  return Object.fromEntries(
    Object.entries(arrays).map(([key, rows]) => {
      const name = nameOf(architecture, key);
      const list = arranged(architecture, name, rows, sizes);
      const shape = Array.isArray(list[0]) ? [list.length, list[0].length] : [list.length];
      const type = shape.length === 1 ? "F32" : typeOf(name, shape);
      return [name, stored(type, shape, list.flat())];
    }),
  );
}

/** Returns the metadata of a config.json. */
export function ggufMetadata(architecture, config) {
  const { hidden_size: hidden, n_embd, num_attention_heads, n_head } = config;
  const heads = num_attention_heads ?? n_head;
  const pairs = {
    embedding_length: hidden ?? n_embd,
    block_count: config.num_hidden_layers ?? config.n_layer,
    feed_forward_length: config.intermediate_size ?? config.n_inner ?? 4 * n_embd,
    context_length: config.max_position_embeddings ?? config.n_positions,
    "attention.head_count": heads,
    "attention.head_count_kv": config.num_key_value_heads,
    "attention.layer_norm_rms_epsilon": config.rms_norm_eps,
    "attention.layer_norm_epsilon": config.layer_norm_eps ?? config.layer_norm_epsilon,
    "attention.key_length": config.head_dim,
    "attention.value_length": config.head_dim,
    "attention.sliding_window": config.sliding_window,
    "rope.freq_base": config.rope_theta ?? config.rotary_emb_base,
    "rope.dimension_count": dimensions(config, heads),
    attn_logit_softcapping: config.attn_logit_softcapping,
    final_logit_softcapping: config.final_logit_softcapping,
    embedding_scale: config.embedding_multiplier,
    "attention.scale": config.attention_multiplier,
    residual_scale: config.residual_multiplier,
    logit_scale: config.logits_scaling,
    use_parallel_residual: config.use_parallel_residual,
  };
  const kFloats = /eps|scale|base|capping/;
  return {
    "general.architecture": architecture,
    ...Object.fromEntries(
      Object.entries(pairs)
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([key, value]) => [
          `${architecture}.${key}`,
          kFloats.test(key) ? { type: "float32", value } : value,
        ]),
    ),
  };
}

function dimensions(config, heads) {
  const size = config.head_dim ?? config.hidden_size / heads;
  const share = config.rotary_pct ?? config.partial_rotary_factor;
  if (share !== undefined) return size * share;
  return config.model_type === "stablelm" ? size / 4 : undefined;
}
