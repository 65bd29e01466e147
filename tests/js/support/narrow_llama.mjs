// A small Llama whose rows have 32 numbers, the least that quantized layers have in a group.

/** Its config.json. */
export const kNarrow = {
  model_type: "llama",
  vocab_size: 24,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 32,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
};
const at = (name) => `model.layers.0.${name}.weight`;

/** The shapes of its weights. */
export const kNarrowShapes = {
  "model.embed_tokens.weight": [24, 32],
  "model.norm.weight": [32],
  "lm_head.weight": [24, 32],
  [at("input_layernorm")]: [32],
  [at("post_attention_layernorm")]: [32],
  [at("self_attn.q_proj")]: [32, 32],
  [at("self_attn.k_proj")]: [16, 32],
  [at("self_attn.v_proj")]: [16, 32],
  [at("self_attn.o_proj")]: [32, 32],
  [at("mlp.gate_proj")]: [64, 32],
  [at("mlp.up_proj")]: [64, 32],
  [at("mlp.down_proj")]: [32, 64],
};
