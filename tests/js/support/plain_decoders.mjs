// Language models on arrays of numbers: for each family a small config, the shapes of its weights under the names of their files, and the scores of each
// next token.

import {
  add,
  attention,
  causal,
  each,
  frequencies,
  gelu,
  layerNorm,
  linear,
  linearOfInputs,
  lookUp,
  range,
  rmsNorm,
  rotate,
  silu,
  tanhGelu,
  windowed,
} from "./plain_layers.mjs";

const kBase = {
  vocab_size: 19,
  hidden_size: 16,
  intermediate_size: 20,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
};

// Llama and its relatives; `family` says what differs.
function decoder(own, family = {}) {
  const config = { ...kBase, ...own };
  const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads } = config;
  const { num_key_value_heads: groups, num_hidden_layers: layers, vocab_size: words } = config;
  const size = config.head_dim ?? hidden / heads;
  const {
    qkvBias = false,
    headNorms = false,
    outerNorms = false,
    fused = false,
    tied = false,
    offset = 0,
    act = silu,
    scale = size ** -0.5,
    embedScale = 1,
    softcap,
    finalSoftcap,
    seenIn = () => causal,
    turn = () => frequencies(size, config.rope_theta ?? 10000),
    turnScale = 1,
    // OLMo 2: norms of what the parts return, and of all heads together.
    normsAfter = false,
    // Granite's factors, and StableLM's norms.
    residual = 1,
    divisor = 1,
    layerNorms = false,
    parallel = false,
  } = family;
  const widths = [heads * size, groups * size, groups * size];
  const shapes = { "model.embed_tokens.weight": [words, hidden], "model.norm.weight": [hidden] };
  if (!tied) shapes["lm_head.weight"] = [words, hidden];
  for (const i of range(layers)) {
    const at = (name) => `model.layers.${i}.${name}`;
    if (fused) {
      shapes[at("self_attn.qkv_proj.weight")] = [widths[0] + 2 * widths[1], hidden];
      shapes[at("mlp.gate_up_proj.weight")] = [2 * inner, hidden];
    } else {
      ["q", "k", "v"].forEach((one, j) => {
        shapes[at(`self_attn.${one}_proj.weight`)] = [widths[j], hidden];
        if (qkvBias) shapes[at(`self_attn.${one}_proj.bias`)] = [widths[j]];
      });
      shapes[at("mlp.gate_proj.weight")] = [inner, hidden];
      shapes[at("mlp.up_proj.weight")] = [inner, hidden];
    }
    shapes[at("self_attn.o_proj.weight")] = [hidden, widths[0]];
    shapes[at("mlp.down_proj.weight")] = [hidden, inner];
    const norms = normsAfter ? [] : ["input_layernorm"];
    if (!parallel) norms.push("post_attention_layernorm");
    if (outerNorms) norms.push("pre_feedforward_layernorm");
    if (outerNorms || normsAfter) norms.push("post_feedforward_layernorm");
    for (const norm of norms) {
      shapes[at(`${norm}.weight`)] = [hidden];
      if (layerNorms) shapes[at(`${norm}.bias`)] = [hidden];
    }
    if (headNorms) for (const one of "qk") shapes[at(`self_attn.${one}_norm.weight`)] = [size];
    if (normsAfter) {
      shapes[at("self_attn.q_norm.weight")] = [widths[0]];
      shapes[at("self_attn.k_norm.weight")] = [widths[1]];
    }
  }
  if (layerNorms) shapes["model.norm.bias"] = [hidden];

  // `placed` may change the embeddings, and `alsoSeen` add pairs of tokens to those that see each other.
  function logits(w, ids, { placed = (x) => x, alsoSeen = () => false } = {}) {
    const norm = (x, name) =>
      layerNorms
        ? layerNorm(x, w[name], w[name.replace(/weight$/, "bias")], config.layer_norm_eps)
        : rmsNorm(x, w[name], config.rms_norm_eps, offset);
    const scaled = (x) => each(x, (one) => one * residual);
    const perHead = (x, count, name) => {
      if (normsAfter) return norm(x, name);
      if (!headNorms) return x;
      return x.map((row) =>
        norm(
          range(count).map((h) => row.slice(h * size, (h + 1) * size)),
          name,
        ).flat(),
      );
    };
    let x = placed(each(lookUp(w["model.embed_tokens.weight"], ids), (one) => one * embedScale));
    for (const i of range(layers)) {
      const at = (name) => `model.layers.${i}.${name}`;
      const part = (y, name) => linear(y, w[at(`${name}.weight`)], w[at(`${name}.bias`)]);
      const read = normsAfter ? x : norm(x, at("input_layernorm.weight"));
      const [q, k, v] = fused
        ? splitRows(part(read, "self_attn.qkv_proj"), widths)
        : ["q", "k", "v"].map((one) => part(read, `self_attn.${one}_proj`));
      const turned = (y, count, one) => {
        const own = perHead(y, count, at(`self_attn.${one}_norm.weight`));
        const angles = turn(i, ids.length);
        return angles === null ? own : rotate(own, count, angles, turnScale);
      };
      const seen = (from, to) => seenIn(i)(from, to) || alsoSeen(from, to);
      const options = { heads, groups, scale, softcap, seen };
      const attended = part(
        attention(turned(q, heads, "q"), turned(k, groups, "k"), v, options),
        "self_attn.o_proj",
      );
      const after = at("post_attention_layernorm.weight");
      const isNormed = outerNorms || normsAfter;
      const first = add(x, scaled(isNormed ? norm(attended, after) : attended));
      const before = outerNorms ? at("pre_feedforward_layernorm.weight") : after;
      const next = parallel ? read : normsAfter ? first : norm(first, before);
      const [gate, up] = fused
        ? splitRows(part(next, "mlp.gate_up_proj"), [inner, inner])
        : [part(next, "mlp.gate_proj"), part(next, "mlp.up_proj")];
      const mixed = gate.map((row, r) => row.map((one, j) => act(one) * up[r][j]));
      const down = part(mixed, "mlp.down_proj");
      const last = isNormed ? norm(down, at("post_feedforward_layernorm.weight")) : down;
      x = add(first, scaled(last));
    }
    const table = tied ? w["model.embed_tokens.weight"] : w["lm_head.weight"];
    const scores = each(linear(norm(x, "model.norm.weight"), table), (one) => one / divisor);
    return finalSoftcap
      ? each(scores, (one) => finalSoftcap * Math.tanh(one / finalSoftcap))
      : scores;
  }
  return { config, shapes, logits };
}

function splitRows(rows, widths) {
  let start = 0;
  return widths.map((width) => {
    const from = start;
    start += width;
    return rows.map((row) => row.slice(from, from + width));
  });
}

function llama3Turn(
  size,
  base,
  {
    factor,
    low_freq_factor: low,
    high_freq_factor: high,
    original_max_position_embeddings: length,
  },
) {
  return frequencies(size, base).map((frequency) => {
    const wave = (2 * Math.PI) / frequency;
    if (wave > length / low) return frequency / factor;
    if (wave < length / high) return frequency;
    const smooth = (length / wave - low) / (high - low);
    return (1 - smooth) * (frequency / factor) + smooth * frequency;
  });
}

function yarnTurn(size, base, factor, length) {
  const dim = (turns) => (size * Math.log(length / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const low = Math.max(Math.floor(dim(32)), 0);
  const high = Math.min(Math.ceil(dim(1)), size - 1);
  return frequencies(size, base).map((frequency, i) => {
    const ramp = Math.min(Math.max((i - low) / (low === high ? 0.001 : high - low), 0), 1);
    return (frequency / factor) * ramp + frequency * (1 - ramp);
  });
}

const kLlama3 = {
  rope_type: "llama3",
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8,
};

function gptNeoX(isParallel) {
  const hidden = 16;
  const [heads, size, inner, words] = [2, 8, 24, 17];
  const config = {
    model_type: "gpt_neox",
    vocab_size: words,
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    rotary_pct: 0.5,
    rotary_emb_base: 10000,
    use_parallel_residual: isParallel,
    layer_norm_eps: 1e-5,
    hidden_act: "gelu",
    max_position_embeddings: 32,
  };
  const shapes = {
    "gpt_neox.embed_in.weight": [words, hidden],
    "gpt_neox.final_layer_norm.weight": [hidden],
    "gpt_neox.final_layer_norm.bias": [hidden],
    "embed_out.weight": [words, hidden],
  };
  for (const i of range(2)) {
    const put = (name, out, from) => {
      shapes[`gpt_neox.layers.${i}.${name}.weight`] = from ? [out, from] : [out];
      shapes[`gpt_neox.layers.${i}.${name}.bias`] = [out];
    };
    put("input_layernorm", hidden);
    put("post_attention_layernorm", hidden);
    put("attention.query_key_value", 3 * hidden, hidden);
    put("attention.dense", hidden, hidden);
    put("mlp.dense_h_to_4h", inner, hidden);
    put("mlp.dense_4h_to_h", hidden, inner);
  }
  function logits(w, ids) {
    let x = lookUp(w["gpt_neox.embed_in.weight"], ids);
    const norm = (y, name) => layerNorm(y, w[`${name}.weight`], w[`${name}.bias`], 1e-5);
    for (const i of range(2)) {
      const at = `gpt_neox.layers.${i}.`;
      const part = (y, name) => linear(y, w[`${at}${name}.weight`], w[`${at}${name}.bias`]);
      const joined = part(norm(x, `${at}input_layernorm`), "attention.query_key_value");
      const [q, k, v] = range(3).map((which) =>
        joined.map((row) =>
          range(heads).flatMap((h) =>
            row.slice((3 * h + which) * size, (3 * h + which + 1) * size),
          ),
        ),
      );
      const turn = frequencies(size / 2, 10000);
      const options = { heads, scale: size ** -0.5, seen: causal };
      const read = attention(rotate(q, heads, turn), rotate(k, heads, turn), v, options);
      const attended = add(x, part(read, "attention.dense"));
      const before = norm(isParallel ? x : attended, `${at}post_attention_layernorm`);
      x = add(attended, part(each(part(before, "mlp.dense_h_to_4h"), gelu), "mlp.dense_4h_to_h"));
    }
    return linear(norm(x, "gpt_neox.final_layer_norm"), w["embed_out.weight"]);
  }
  return { config, shapes, logits };
}

function gpt2(own = {}) {
  const [hidden, heads, inner, words, positions] = [16, 4, 64, 21, 24];
  const config = {
    model_type: "gpt2",
    vocab_size: words,
    n_embd: hidden,
    n_layer: 2,
    n_head: heads,
    n_positions: positions,
    attn_pdrop: 0,
    embd_pdrop: 0,
    resid_pdrop: 0,
    ...own,
  };
  const shapes = {
    "transformer.wte.weight": [words, hidden],
    "transformer.wpe.weight": [positions, hidden],
    "transformer.ln_f.weight": [hidden],
    "transformer.ln_f.bias": [hidden],
  };
  for (const i of range(2)) {
    const put = (name, shape) => {
      shapes[`transformer.h.${i}.${name}.weight`] = shape;
      shapes[`transformer.h.${i}.${name}.bias`] = [shape.at(-1)];
    };
    put("ln_1", [hidden]);
    put("attn.c_attn", [hidden, 3 * hidden]);
    put("attn.c_proj", [hidden, hidden]);
    put("ln_2", [hidden]);
    put("mlp.c_fc", [hidden, inner]);
    put("mlp.c_proj", [inner, hidden]);
  }
  function logits(w, ids) {
    let x = add(
      lookUp(w["transformer.wte.weight"], ids),
      w["transformer.wpe.weight"].slice(0, ids.length),
    );
    const norm = (y, name) => layerNorm(y, w[`${name}.weight`], w[`${name}.bias`], 1e-5);
    for (const i of range(2)) {
      const at = `transformer.h.${i}.`;
      const part = (y, name) => linearOfInputs(y, w[`${at}${name}.weight`], w[`${at}${name}.bias`]);
      const [q, k, v] = splitRows(part(norm(x, `${at}ln_1`), "attn.c_attn"), [
        hidden,
        hidden,
        hidden,
      ]);
      const byLayer = own.scale_attn_by_inverse_layer_idx ? i + 1 : 1;
      const scale = (hidden / heads) ** -0.5 / byLayer;
      const read = attention(q, k, v, { heads, scale, seen: causal });
      x = add(x, part(read, "attn.c_proj"));
      x = add(x, part(each(part(norm(x, `${at}ln_2`), "mlp.c_fc"), tanhGelu), "mlp.c_proj"));
    }
    return linear(norm(x, "transformer.ln_f"), w["transformer.wte.weight"]);
  }
  return { config, shapes, logits };
}

// Falcon: `groups` of heads share keys and values; `norms` are those that attention and the MLP read.
function falcon(own, groups, norms, hasBias = false) {
  const [hidden, heads, inner, words] = [16, 4, 64, 18];
  const size = hidden / heads;
  const shared = heads / groups;
  const config = {
    model_type: "falcon",
    vocab_size: words,
    hidden_size: hidden,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    layer_norm_epsilon: 1e-5,
    bias: hasBias,
    alibi: false,
    rope_theta: 500,
    ...own,
  };
  const shapes = {
    "transformer.word_embeddings.weight": [words, hidden],
    "transformer.ln_f.weight": [hidden],
    "transformer.ln_f.bias": [hidden],
  };
  const kParts = {
    "self_attention.query_key_value": [hidden + 2 * groups * size, hidden],
    "self_attention.dense": [hidden, hidden],
    "mlp.dense_h_to_4h": [inner, hidden],
    "mlp.dense_4h_to_h": [hidden, inner],
  };
  for (const i of range(2)) {
    const at = `transformer.h.${i}.`;
    for (const norm of new Set(norms)) {
      for (const kind of ["weight", "bias"]) shapes[`${at}${norm}.${kind}`] = [hidden];
    }
    for (const [name, shape] of Object.entries(kParts)) {
      shapes[`${at}${name}.weight`] = shape;
      if (hasBias) shapes[`${at}${name}.bias`] = [shape[0]];
    }
  }
  function logits(w, ids) {
    const norm = (y, name) => layerNorm(y, w[`${name}.weight`], w[`${name}.bias`], 1e-5);
    let x = lookUp(w["transformer.word_embeddings.weight"], ids);
    for (const i of range(2)) {
      const at = `transformer.h.${i}.`;
      const part = (y, name) => linear(y, w[`${at}${name}.weight`], w[`${at}${name}.bias`]);
      const joined = part(norm(x, at + norms[0]), "self_attention.query_key_value");
      // Of each group: its queries, a key, a value.
      const pick = (first, count) =>
        joined.map((row) =>
          range(groups).flatMap((g) => {
            const start = g * (shared + 2) * size + first * size;
            return row.slice(start, start + count * size);
          }),
        );
      const [q, k, v] = [pick(0, shared), pick(shared, 1), pick(shared + 1, 1)];
      const turn = frequencies(size, 500);
      const options = { heads, groups, scale: size ** -0.5, seen: causal };
      const read = attention(rotate(q, heads, turn), rotate(k, groups, turn), v, options);
      const attended = part(read, "self_attention.dense");
      const isSequence = norms[1] === "post_attention_layernorm";
      const before = isSequence ? add(x, attended) : x;
      const inside = each(part(norm(before, at + norms[1]), "mlp.dense_h_to_4h"), gelu);
      x = add(add(x, attended), part(inside, "mlp.dense_4h_to_h"));
    }
    return linear(norm(x, "transformer.ln_f"), w["transformer.word_embeddings.weight"]);
  }
  return { config, shapes, logits };
}

const sliding = (isSliding, width) => (i) => (isSliding(i) ? windowed(width) : causal);

/** The language models by name. */
export const kDecoders = {
  llama: decoder({ model_type: "llama", tie_word_embeddings: false }),
  "llama, tied": decoder(
    { model_type: "llama", tie_word_embeddings: true, head_dim: 6 },
    { tied: true },
  ),
  "llama, linear positions": decoder(
    { model_type: "llama", rope_scaling: { type: "linear", factor: 4 } },
    { turn: () => frequencies(4, 10000).map((one) => one / 4) },
  ),
  "llama, dynamic positions": decoder(
    {
      model_type: "llama",
      max_position_embeddings: 6,
      rope_scaling: { rope_type: "dynamic", factor: 2 },
    },
    // Of 9 tokens.
    { turn: () => frequencies(4, 10000 * ((2 * 9) / 6 - 1) ** (4 / 2)) },
  ),
  "llama 3, new positions": decoder(
    { model_type: "llama", rope_theta: 500, rope_scaling: kLlama3 },
    { turn: () => llama3Turn(4, 500, kLlama3) },
  ),
  "llama, yarn": decoder(
    {
      model_type: "llama",
      head_dim: 8,
      rope_scaling: { type: "yarn", factor: 4, original_max_position_embeddings: 16 },
    },
    { turn: () => yarnTurn(8, 10000, 4, 16), turnScale: 0.1 * Math.log(4) + 1 },
  ),
  mistral: decoder({ model_type: "mistral", sliding_window: 3 }, { seenIn: () => windowed(3) }),
  "mistral without a window": decoder({ model_type: "mistral", sliding_window: null }),
  qwen2: decoder(
    {
      model_type: "qwen2",
      tie_word_embeddings: true,
      use_sliding_window: false,
      sliding_window: 2,
      max_window_layers: 1,
    },
    { qkvBias: true, tied: true },
  ),
  "qwen2 with windows": decoder(
    { model_type: "qwen2", use_sliding_window: true, sliding_window: 2, max_window_layers: 1 },
    { qkvBias: true, seenIn: sliding((i) => i >= 1, 2) },
  ),
  qwen3: decoder({ model_type: "qwen3", head_dim: 6 }, { headNorms: true }),
  gemma2: decoder(
    {
      model_type: "gemma2",
      head_dim: 6,
      sliding_window: 3,
      query_pre_attn_scalar: 9,
      attn_logit_softcapping: 2,
      final_logit_softcapping: 3,
      hidden_activation: "gelu_pytorch_tanh",
    },
    {
      outerNorms: true,
      tied: true,
      offset: 1,
      act: tanhGelu,
      scale: 1 / 3,
      embedScale: 4,
      softcap: 2,
      finalSoftcap: 3,
      seenIn: sliding((i) => i % 2 === 0, 3),
    },
  ),
  gemma3_text: decoder(
    {
      model_type: "gemma3_text",
      head_dim: 6,
      sliding_window: 3,
      sliding_window_pattern: 2,
      query_pre_attn_scalar: 9,
      rope_theta: 1000,
      rope_local_base_freq: 100,
      rope_scaling: { rope_type: "linear", factor: 2 },
      hidden_activation: "gelu_pytorch_tanh",
    },
    {
      outerNorms: true,
      headNorms: true,
      tied: true,
      offset: 1,
      act: tanhGelu,
      scale: 1 / 3,
      embedScale: 4,
      seenIn: sliding((i) => i % 2 === 0, 3),
      turn: (i) => (i % 2 === 0 ? frequencies(6, 100) : frequencies(6, 1000).map((one) => one / 2)),
    },
  ),
  phi3: decoder(
    { model_type: "phi3", sliding_window: 4, original_max_position_embeddings: 64 },
    { fused: true, seenIn: () => windowed(4) },
  ),
  "phi3, long texts": decoder(
    {
      model_type: "phi3",
      max_position_embeddings: 24,
      original_max_position_embeddings: 6,
      rope_scaling: { type: "longrope", short_factor: [1, 1.5], long_factor: [2, 5] },
    },
    {
      fused: true,
      turn: (_, length) =>
        frequencies(4, 10000).map((one, i) => one / (length > 6 ? [2, 5] : [1, 1.5])[i]),
      turnScale: Math.sqrt(1 + Math.log(4) / Math.log(6)),
    },
  ),
  olmo2: decoder({ model_type: "olmo2", attention_bias: false }, { normsAfter: true }),
  granite: decoder(
    {
      model_type: "granite",
      embedding_multiplier: 3,
      attention_multiplier: 0.2,
      residual_multiplier: 0.5,
      logits_scaling: 4,
    },
    { embedScale: 3, scale: 0.2, residual: 0.5, divisor: 4 },
  ),
  smollm3: decoder(
    { model_type: "smollm3", no_rope_layers: [0, 1], no_rope_layer_interval: 4, rope_theta: 500 },
    { tied: true, turn: (i) => (i === 0 ? null : frequencies(4, 500)) },
  ),
  "smollm3, every second layer without positions": decoder(
    { model_type: "smollm3", no_rope_layer_interval: 2, tie_word_embeddings: false },
    { turn: (i) => (i === 1 ? null : frequencies(4, 10000)) },
  ),
  stablelm: decoder(
    { model_type: "stablelm", head_dim: 8, layer_norm_eps: 1e-4, use_qkv_bias: true },
    { layerNorms: true, qkvBias: true, turn: () => frequencies(2, 10000) },
  ),
  "stablelm, parts side by side": decoder(
    {
      model_type: "stablelm",
      layer_norm_eps: 1e-5,
      partial_rotary_factor: 0.5,
      use_parallel_residual: true,
    },
    { layerNorms: true, parallel: true, turn: () => frequencies(2, 10000) },
  ),
  gpt_neox: gptNeoX(true),
  "gpt_neox, one part after the other": gptNeoX(false),
  falcon: falcon({ new_decoder_architecture: true, num_kv_heads: 2 }, 2, ["ln_attn", "ln_mlp"]),
  "falcon with one norm": falcon(
    { new_decoder_architecture: true, num_kv_heads: 2, num_ln_in_parallel_attn: 1 },
    2,
    ["input_layernorm", "input_layernorm"],
    true,
  ),
  "falcon whose heads share one key": falcon({ multi_query: true }, 1, [
    "input_layernorm",
    "input_layernorm",
  ]),
  "falcon, one part after the other": falcon({ multi_query: false, parallel_attn: false }, 4, [
    "input_layernorm",
    "post_attention_layernorm",
  ]),
  gpt2: gpt2(),
  "gpt2 scaled by layer": gpt2({ scale_attn_by_inverse_layer_idx: true }),
};
