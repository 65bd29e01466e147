// SmolLM2-135M's shape with random weights, as files in bfloat16: 135 million parameters, 269 MB.

import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const kConfig = {
  model_type: "llama",
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  vocab_size: 49152,
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-5,
  rope_theta: 100000,
  tie_word_embeddings: true,
};

/** The sizes of an adapter and its training. */
export const kLora = { r: 8, loraAlpha: 16, targetModules: ["q_proj", "v_proj"] };
export const kTokens = 128;

/** Tokens that are generated before those that are measured. */
export const kWarmUp = 32;

const kFolder = fileURLToPath(new URL("../../../build/bench/language", import.meta.url));

/** Returns the folder of the model; makes it the first time, which takes seconds. */
export async function modelFolder() {
  const file = join(kFolder, "model.safetensors");
  if (existsSync(file)) return kFolder;
  const eg = await import("edgegrad");
  await eg.init({ webgpu: "off" });
  eg.manualSeed(1);
  mkdirSync(kFolder, { recursive: true });
  writeFileSync(join(kFolder, "config.json"), JSON.stringify(kConfig));
  const tensors = Object.entries(shapes()).map(([name, shape]) => {
    const values = shape.length > 1 ? eg.randn(shape).mul(0.04) : eg.ones(shape);
    return [name, values.to("bfloat16")];
  });
  writeFileSync(`${file}.part`, eg.io.saveSafetensors(Object.fromEntries(tensors)));
  renameSync(`${file}.part`, file);
  return kFolder;
}

function shapes() {
  const { hidden_size: width, intermediate_size: inner, vocab_size: words } = kConfig;
  const keys = (width / kConfig.num_attention_heads) * kConfig.num_key_value_heads;
  const layer = {
    "self_attn.q_proj": [width, width],
    "self_attn.k_proj": [keys, width],
    "self_attn.v_proj": [keys, width],
    "self_attn.o_proj": [width, width],
    "mlp.gate_proj": [inner, width],
    "mlp.up_proj": [inner, width],
    "mlp.down_proj": [width, inner],
    input_layernorm: [width],
    post_attention_layernorm: [width],
  };
  const all = { "model.embed_tokens.weight": [words, width], "model.norm.weight": [width] };
  for (let i = 0; i < kConfig.num_hidden_layers; i++) {
    for (const [name, shape] of Object.entries(layer))
      all[`model.layers.${i}.${name}.weight`] = shape;
  }
  return all;
}

/** The length of a long prompt, and the number of texts that are written together. */
export const kPrompt = 512;
export const kBatch = 8;

/** Returns the token numbers of a text, which are the same in every program. */
export function tokens(count, text = 0) {
  return Array.from(
    { length: count },
    (_, i) => (i * 7919 + text * 104729 + 13) % kConfig.vocab_size,
  );
}

/** Returns such texts. */
export function texts(batch, count) {
  return Array.from({ length: batch }, (_, text) => tokens(count, text));
}
