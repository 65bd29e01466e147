// The shape of the model that the page ships, with random weights.

import * as eg from "edgegrad";
import { AutoModelForCausalLM } from "edgegrad/transformers";

export const kVocabulary = 1024;
export const kContext = 128;

const kDeviation = 0.04;

const kConfig = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  vocab_size: kVocabulary,
  hidden_size: 128,
  intermediate_size: 384,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  hidden_act: "silu",
  max_position_embeddings: 2 * kContext,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
  bos_token_id: null,
  eos_token_id: 0,
  torch_dtype: "float16",
};

/** Returns the model, a Llama of 0.9 million parameters. */
export function newModel() {
  return AutoModelForCausalLM.fromPretrained({
    "config.json": JSON.stringify(kConfig),
    "model.safetensors": eg.io.saveSafetensors(eg.scope(randomWeights)),
  });
}

function randomWeights() {
  const { hidden_size: width, intermediate_size: inner, num_hidden_layers: layers } = kConfig;
  const groups = (width / kConfig.num_attention_heads) * kConfig.num_key_value_heads;
  const shapes = { "embed_tokens.weight": [kVocabulary, width], "norm.weight": [width] };
  const layer = {
    "self_attn.q_proj": [width, width],
    "self_attn.k_proj": [groups, width],
    "self_attn.v_proj": [groups, width],
    "self_attn.o_proj": [width, width],
    "mlp.gate_proj": [inner, width],
    "mlp.up_proj": [inner, width],
    "mlp.down_proj": [width, inner],
    input_layernorm: [width],
    post_attention_layernorm: [width],
  };
  for (let i = 0; i < layers; i++) {
    for (const [name, shape] of Object.entries(layer)) shapes[`layers.${i}.${name}.weight`] = shape;
  }
  const draw = (shape) => (shape.length === 1 ? eg.ones(shape) : eg.randn(shape).mul(kDeviation));
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [`model.${name}`, eg.keep(draw(shape))]),
  );
}
