// The names that llama.cpp has for the tensors of each architecture, beside those of Hugging Face's files, and how it stores some of them.

/** A tensor of an architecture. */
export interface TensorName {
  /** The name in Hugging Face's files. */
  readonly name: string;
  readonly storage: Storage;
}

/**
 * How a tensor is stored: as it is, transposed, one less than the stored values, or with the rows in another order: those of the halves of each head of
 * queries or keys alternate, or queries, keys and values are each together instead of those of a head.
 */
export type Storage = "same" | "transposed" | "plus one" | "queries" | "keys" | "by head";

/** An architecture: the model_type of config.json, and the tensors by llama.cpp's names. */
export interface Architecture {
  readonly modelType: string;
  /** The names of layers by llama.cpp's; a block's number stands for "#". */
  readonly layers: Readonly<Record<string, string>>;
  readonly storage: Readonly<Record<string, Storage>>;
}

const kAttention = {
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
};

const kGated = {
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
};

const kNorms = { attn_norm: "input_layernorm", ffn_norm: "post_attention_layernorm" };

const kAround = {
  attn_norm: "input_layernorm",
  post_attention_norm: "post_attention_layernorm",
  ffn_norm: "pre_feedforward_layernorm",
  post_ffw_norm: "post_feedforward_layernorm",
};

// Names before "blk" are those of the whole model.
function decoder(
  modelType: string,
  block: Readonly<Record<string, string>>,
  storage: Readonly<Record<string, Storage>> = {},
): Architecture {
  const whole = { token_embd: "model.embed_tokens", output_norm: "model.norm", output: "lm_head" };
  return { modelType, layers: { ...whole, ...inBlocks("model.layers.#.", block) }, storage };
}

const inBlocks = (prefix: string, block: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(block).map(([name, layer]) => [`blk.#.${name}`, prefix + layer]),
  );

/** Rotary features that llama.cpp has side by side, where Hugging Face's files have halves. */
const kTurned = { "blk.#.attn_q": "queries", "blk.#.attn_k": "keys" } as const;

const kLlama = { ...kAttention, ...kGated, ...kNorms };

const kGemmaNorms: Readonly<Record<string, Storage>> = Object.fromEntries(
  [
    "output_norm",
    ...[...Object.keys(kAround), "attn_q_norm", "attn_k_norm"].map((key) => `blk.#.${key}`),
  ].map((name) => [name, "plus one"]),
);

/** The architectures by the name that files have in general.architecture. */
export const kArchitectures: Readonly<Record<string, Architecture>> = {
  bert: {
    modelType: "bert",
    layers: {
      token_embd: "bert.embeddings.word_embeddings",
      token_types: "bert.embeddings.token_type_embeddings",
      position_embd: "bert.embeddings.position_embeddings",
      token_embd_norm: "bert.embeddings.LayerNorm",
      ...inBlocks("bert.encoder.layer.#.", {
        attn_q: "attention.self.query",
        attn_k: "attention.self.key",
        attn_v: "attention.self.value",
        attn_output: "attention.output.dense",
        attn_output_norm: "attention.output.LayerNorm",
        ffn_up: "intermediate.dense",
        ffn_down: "output.dense",
        layer_output_norm: "output.LayerNorm",
      }),
    },
    storage: {},
  },
  gemma2: decoder("gemma2", { ...kAttention, ...kGated, ...kAround }, kGemmaNorms),
  gemma3: decoder("gemma3_text", { ...kAttention, ...kGated, ...kAround }, kGemmaNorms),
  gpt2: {
    modelType: "gpt2",
    layers: {
      token_embd: "transformer.wte",
      position_embd: "transformer.wpe",
      output_norm: "transformer.ln_f",
      output: "lm_head",
      ...inBlocks("transformer.h.#.", {
        attn_norm: "ln_1",
        attn_qkv: "attn.c_attn",
        attn_output: "attn.c_proj",
        ffn_norm: "ln_2",
        ffn_up: "mlp.c_fc",
        ffn_down: "mlp.c_proj",
      }),
    },
    storage: {
      "blk.#.attn_qkv": "transposed",
      "blk.#.attn_output": "transposed",
      "blk.#.ffn_up": "transposed",
      "blk.#.ffn_down": "transposed",
    },
  },
  gptneox: {
    modelType: "gpt_neox",
    layers: {
      token_embd: "gpt_neox.embed_in",
      output_norm: "gpt_neox.final_layer_norm",
      output: "embed_out",
      ...inBlocks("gpt_neox.layers.#.", {
        attn_norm: "input_layernorm",
        attn_qkv: "attention.query_key_value",
        attn_output: "attention.dense",
        ffn_norm: "post_attention_layernorm",
        ffn_up: "mlp.dense_h_to_4h",
        ffn_down: "mlp.dense_4h_to_h",
      }),
    },
    storage: { "blk.#.attn_qkv": "by head" },
  },
  granite: decoder("granite", kLlama, kTurned),
  llama: decoder("llama", kLlama, kTurned),
  olmo2: decoder("olmo2", { ...kAttention, ...kGated, ...kAround }),
  phi3: decoder("phi3", {
    attn_qkv: "self_attn.qkv_proj",
    attn_output: "self_attn.o_proj",
    ffn_up: "mlp.gate_up_proj",
    ffn_down: "mlp.down_proj",
    ...kNorms,
  }),
  qwen2: decoder("qwen2", kLlama),
  qwen3: decoder("qwen3", kLlama),
  smollm3: decoder("smollm3", kLlama, kTurned),
  stablelm: decoder("stablelm", kLlama),
};

/** Models of these types have another's architecture in GGUF files. */
const kSameAs: Readonly<Record<string, string>> = { mistral: "llama" };

/** Returns the name and the architecture of models of a type; null for others. */
export function architectureOf(
  modelType: string,
): readonly [name: string, architecture: Architecture] | null {
  const wanted = kSameAs[modelType] ?? modelType;
  return (
    Object.entries(kArchitectures).find(([, architecture]) => architecture.modelType === wanted) ??
    null
  );
}

/** Returns what a tensor of a file is; null if the architecture does not have it. */
export function tensorName({ layers, storage }: Architecture, key: string): TensorName | null {
  const [, stem = "", kind = ""] = /^(.*)\.(weight|bias)$/.exec(key) ?? [];
  const block = /^blk\.(\d+)\./.exec(stem)?.[1];
  const general = block === undefined ? stem : stem.replace(/\d+/, "#");
  if (!Object.hasOwn(layers, general)) return null;
  const name = `${(layers[general] as string).replace("#", block ?? "")}.${kind}`;
  return { name, storage: storedAs(storage[general], kind) };
}

/** Returns llama.cpp's name of a layer, and how its weight is stored; null if the architecture does not have it. */
export function layerName({ layers, storage }: Architecture, path: string): TensorName | null {
  const block = /\.(\d+)\./.exec(path)?.[1];
  const general = path.replace(/\.\d+\./, ".#.");
  const found = Object.entries(layers).find(([, name]) => name === general)?.[0];
  if (found === undefined) return null;
  return {
    name: found.replace("#", block ?? ""),
    storage: storedAs(storage[found], "weight"),
  };
}

// The rows of a bias move with those of the weight; nothing else about it differs.
function storedAs(storage: Storage = "same", kind: string): Storage {
  const isVector = kind === "bias" && (storage === "transposed" || storage === "plus one");
  return isVector ? "same" : storage;
}

/** The sizes that the order of rows depends on. */
export interface HeadSizes {
  readonly heads: number;
  /** The number of heads of keys. */
  readonly groups: number;
}

/** Returns for each row of a file which row of Hugging Face's files it is; null if their order is the same. */
export function rowOrder(
  storage: Storage,
  rows: number,
  { heads, groups }: HeadSizes,
): number[] | null {
  if (storage === "queries" || storage === "keys") {
    const size = rows / (storage === "queries" ? heads : groups);
    return Array.from({ length: rows }, (_, row) => {
      const [head, place] = [Math.floor(row / size), row % size];
      return head * size + (place % 2) * (size / 2) + Math.floor(place / 2);
    });
  }
  if (storage !== "by head") return null;
  const size = rows / 3 / heads;
  return Array.from({ length: rows }, (_, row) => {
    const [which, head] = [Math.floor(row / (heads * size)), Math.floor(row / size) % heads];
    return (3 * head + which) * size + (row % size);
  });
}
