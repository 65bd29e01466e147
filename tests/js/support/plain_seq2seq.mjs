// T5 and Whisper on arrays of numbers.

import {
  add,
  attention,
  causal,
  each,
  gelu,
  layerNorm,
  linear,
  lookUp,
  range,
  relu,
  rmsNorm,
  silu,
  tanhGelu,
} from "./plain_layers.mjs";

function t5Bucket(distance, isCausal) {
  const [buckets, farthest] = [isCausal ? 8 : 4, 16];
  const away = isCausal ? Math.max(-distance, 0) : Math.abs(distance);
  const start = !isCausal && distance > 0 ? 4 : 0;
  const exact = buckets / 2;
  if (away < exact) return start + away;
  const far =
    exact + Math.floor((Math.log(away / exact) / Math.log(farthest / exact)) * (buckets - exact));
  return start + Math.min(far, buckets - 1);
}

function t5(isGated, model_type = "t5") {
  const [words, hidden, heads, size, inner] = [21, 12, 2, 5, 16];
  const config = {
    model_type,
    vocab_size: words,
    d_model: hidden,
    d_kv: size,
    d_ff: inner,
    num_layers: 2,
    num_heads: heads,
    relative_attention_num_buckets: 8,
    relative_attention_max_distance: 16,
    layer_norm_epsilon: 1e-6,
    feed_forward_proj: isGated ? "gated-gelu" : "relu",
    tie_word_embeddings: !isGated,
    is_encoder_decoder: true,
    dropout_rate: 0,
    decoder_start_token_id: 0,
    pad_token_id: 0,
  };
  const shapes = { "shared.weight": [words, hidden] };
  if (isGated) shapes["lm_head.weight"] = [words, hidden];
  for (const stack of ["encoder", "decoder"]) {
    shapes[`${stack}.final_layer_norm.weight`] = [hidden];
    for (const i of range(2)) {
      const attend = (at) => {
        for (const one of "qkv") shapes[`${at}.${one}.weight`] = [heads * size, hidden];
        shapes[`${at}.o.weight`] = [hidden, heads * size];
      };
      const block = `${stack}.block.${i}.layer`;
      attend(`${block}.0.SelfAttention`);
      if (i === 0) shapes[`${block}.0.SelfAttention.relative_attention_bias.weight`] = [8, heads];
      const last = stack === "decoder" ? 2 : 1;
      if (stack === "decoder") attend(`${block}.1.EncDecAttention`);
      for (const j of range(last + 1)) shapes[`${block}.${j}.layer_norm.weight`] = [hidden];
      for (const one of isGated ? ["wi_0", "wi_1"] : ["wi"]) {
        shapes[`${block}.${last}.DenseReluDense.${one}.weight`] = [inner, hidden];
      }
      shapes[`${block}.${last}.DenseReluDense.wo.weight`] = [hidden, inner];
    }
  }
  function stackIn(w) {
    const dense = (x, name) => linear(x, w[`${name}.weight`]);
    const norm = (x, name) => rmsNorm(x, w[`${name}.weight`], 1e-6);
    return (stack, tokens, read) => {
      let x = lookUp(w["shared.weight"], tokens);
      const isCausal = stack === "decoder";
      const table = w[`${stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight`];
      const bias = (h, i, j) => table[t5Bucket(j - i, isCausal)][h];
      for (const i of range(2)) {
        const at = `${stack}.block.${i}.layer`;
        const own = norm(x, `${at}.0.layer_norm`);
        const self = `${at}.0.SelfAttention`;
        const [q, k, v] = [..."qkv"].map((one) => dense(own, `${self}.${one}`));
        const options = { heads, scale: 1, bias, ...(isCausal && { seen: causal }) };
        x = add(x, dense(attention(q, k, v, options), `${self}.o`));
        if (read) {
          const cross = `${at}.1.EncDecAttention`;
          const query = dense(norm(x, `${at}.1.layer_norm`), `${cross}.q`);
          const [keys, values] = [..."kv"].map((one) => dense(read, `${cross}.${one}`));
          x = add(x, dense(attention(query, keys, values, { heads, scale: 1 }), `${cross}.o`));
        }
        const last = read ? 2 : 1;
        const normed = norm(x, `${at}.${last}.layer_norm`);
        const feed = `${at}.${last}.DenseReluDense`;
        const mixed = isGated
          ? each(dense(normed, `${feed}.wi_0`), tanhGelu).map((row, r) =>
              row.map((one, c) => one * dense(normed, `${feed}.wi_1`)[r][c]),
            )
          : each(dense(normed, `${feed}.wi`), relu);
        x = add(x, dense(mixed, `${feed}.wo`));
      }
      return norm(x, `${stack}.final_layer_norm`);
    };
  }
  const encoded = (w, ids) => stackIn(w)("encoder", ids, null);
  function logits(w, ids, written) {
    const last = stackIn(w)("decoder", written, encoded(w, ids));
    if (isGated) return linear(last, w["lm_head.weight"]);
    return linear(
      each(last, (one) => one * hidden ** -0.5),
      w["shared.weight"],
    );
  }
  return { config, shapes, logits, encoded };
}

/** T5, also as its version 1.1. */
export const kT5 = { t5: t5(false), "t5 1.1": t5(true), mt5: t5(true, "mt5") };

/** Whisper. */
export const kWhisper = (() => {
  const [words, hidden, heads, inner, bins, positions] = [18, 8, 2, 12, 4, 5];
  const config = {
    model_type: "whisper",
    vocab_size: words,
    num_mel_bins: bins,
    d_model: hidden,
    encoder_layers: 2,
    decoder_layers: 2,
    encoder_attention_heads: heads,
    decoder_attention_heads: heads,
    encoder_ffn_dim: inner,
    decoder_ffn_dim: inner,
    max_source_positions: positions,
    max_target_positions: 12,
    activation_function: "gelu",
    is_encoder_decoder: true,
    scale_embedding: false,
    decoder_start_token_id: 1,
    pad_token_id: 0,
    dropout: 0,
  };
  const shapes = {};
  const put = (name, out, inputs, bias = true) => {
    shapes[`${name}.weight`] = inputs ? [out, inputs].flat() : [out];
    if (bias) shapes[`${name}.bias`] = [out];
  };
  put("model.encoder.conv1", hidden, [bins, 3]);
  put("model.encoder.conv2", hidden, [hidden, 3]);
  shapes["model.encoder.embed_positions.weight"] = [positions, hidden];
  shapes["model.decoder.embed_positions.weight"] = [12, hidden];
  shapes["model.decoder.embed_tokens.weight"] = [words, hidden];
  for (const tower of ["encoder", "decoder"]) {
    put(`model.${tower}.layer_norm`, hidden);
    for (const i of range(2)) {
      const at = `model.${tower}.layers.${i}`;
      for (const one of tower === "decoder" ? ["self_attn", "encoder_attn"] : ["self_attn"]) {
        for (const name of ["k", "v", "q", "out"])
          put(`${at}.${one}.${name}_proj`, hidden, hidden, name !== "k");
        put(`${at}.${one}_layer_norm`, hidden);
      }
      put(`${at}.fc1`, inner, hidden);
      put(`${at}.fc2`, hidden, inner);
      put(`${at}.final_layer_norm`, hidden);
    }
  }
  function logits(w, features, written) {
    const dense = (x, name) => linear(x, w[`${name}.weight`], w[`${name}.bias`]);
    const norm = (x, name) => layerNorm(x, w[`${name}.weight`], w[`${name}.bias`], 1e-5);
    // Rows are frames; a kernel is three frames wide.
    const conv = (rows, name, step) => {
      const kernel = w[`${name}.weight`].map((out) =>
        range(3).flatMap((t) => out.map((one) => one[t])),
      );
      const zeros = rows[0].map(() => 0);
      const around = range(Math.ceil(rows.length / step)).map((i) =>
        [-1, 0, 1].flatMap((d) => rows[i * step + d] ?? zeros),
      );
      return linear(around, kernel, w[`${name}.bias`]);
    };
    const attend = (x, source, at, seen) => {
      const q = dense(x, `${at}.q_proj`);
      const [k, v] = ["k", "v"].map((one) => dense(source, `${at}.${one}_proj`));
      return dense(
        attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5, seen }),
        `${at}.out_proj`,
      );
    };
    const run = (tower, start, read) => {
      let x = start;
      for (const i of range(2)) {
        const at = `model.${tower}.layers.${i}`;
        const own = norm(x, `${at}.self_attn_layer_norm`);
        x = add(x, attend(own, own, `${at}.self_attn`, read ? causal : undefined));
        if (read)
          x = add(x, attend(norm(x, `${at}.encoder_attn_layer_norm`), read, `${at}.encoder_attn`));
        x = add(
          x,
          dense(each(dense(norm(x, `${at}.final_layer_norm`), `${at}.fc1`), gelu), `${at}.fc2`),
        );
      }
      return norm(x, `model.${tower}.layer_norm`);
    };
    const frames = features[0].map((_, t) => features.map((bin) => bin[t]));
    const first = each(conv(frames, "model.encoder.conv1", 1), gelu);
    const second = each(conv(first, "model.encoder.conv2", 2), gelu);
    const read = run("encoder", add(second, w["model.encoder.embed_positions.weight"]), null);
    const places = w["model.decoder.embed_positions.weight"].slice(0, written.length);
    const last = run(
      "decoder",
      add(lookUp(w["model.decoder.embed_tokens.weight"], written), places),
      read,
    );
    return dense(last, "model.decoder.embed_tokens");
  }
  return { config, shapes, logits };
})();

/** Moonshine; queries share keys. */
export const kMoonshine = (() => {
  const [words, hidden, inner, heads, groups] = [18, 12, 10, 2, 1];
  const size = hidden / heads;
  const config = {
    model_type: "moonshine",
    vocab_size: words,
    hidden_size: hidden,
    intermediate_size: inner,
    encoder_num_hidden_layers: 2,
    decoder_num_hidden_layers: 2,
    encoder_num_attention_heads: heads,
    encoder_num_key_value_heads: groups,
    decoder_num_attention_heads: heads,
    decoder_num_key_value_heads: groups,
    partial_rotary_factor: 0.7,
    rope_theta: 50,
    pad_head_dim_to_multiple_of: 8,
    decoder_start_token_id: 1,
    is_encoder_decoder: true,
  };
  const shapes = {
    "model.encoder.conv1.weight": [hidden, 1, 127],
    "model.encoder.conv2.weight": [2 * hidden, hidden, 7],
    "model.encoder.conv2.bias": [2 * hidden],
    "model.encoder.conv3.weight": [hidden, 2 * hidden, 3],
    "model.encoder.conv3.bias": [hidden],
    "model.encoder.groupnorm.weight": [hidden],
    "model.encoder.groupnorm.bias": [hidden],
    "model.encoder.layer_norm.weight": [hidden],
    "model.decoder.embed_tokens.weight": [words, hidden],
    "model.decoder.norm.weight": [hidden],
  };
  for (const tower of ["encoder", "decoder"]) {
    const isDecoder = tower === "decoder";
    for (const i of range(2)) {
      const at = `model.${tower}.layers.${i}`;
      for (const part of isDecoder ? ["self_attn", "encoder_attn"] : ["self_attn"]) {
        for (const one of "qo") shapes[`${at}.${part}.${one}_proj.weight`] = [hidden, hidden];
        for (const one of "kv")
          shapes[`${at}.${part}.${one}_proj.weight`] = [groups * size, hidden];
      }
      shapes[`${at}.mlp.fc1.weight`] = [isDecoder ? 2 * inner : inner, hidden];
      shapes[`${at}.mlp.fc1.bias`] = [isDecoder ? 2 * inner : inner];
      shapes[`${at}.mlp.fc2.weight`] = [hidden, inner];
      shapes[`${at}.mlp.fc2.bias`] = [hidden];
      const norms = ["input_layernorm", "post_attention_layernorm"];
      if (isDecoder) norms.push("final_layernorm");
      for (const norm of norms) shapes[`${at}.${norm}.weight`] = [hidden];
    }
  }
  // Rows are moments; each output reads `width` of them.
  const conv = (rows, kernel, bias, width, step) => {
    const flat = kernel.map((out) => range(width).flatMap((t) => out.map((one) => one[t])));
    const count = Math.floor((rows.length - width) / step) + 1;
    return linear(
      range(count).map((i) => rows.slice(i * step, i * step + width).flat()),
      flat,
      bias,
    );
  };
  // Four of six features are rotated, each with its neighbor.
  const turnNeighbors = (rows) =>
    rows.map((row, position) =>
      row.map((one, j) => {
        const [head, f] = [Math.floor(j / size), j % size];
        if (f >= 4) return one;
        const angle = position * 50 ** (-(2 * Math.floor(f / 2)) / 4);
        const other = row[head * size + (f % 2 === 0 ? f + 1 : f - 1)];
        return one * Math.cos(angle) + (f % 2 === 0 ? -other : other) * Math.sin(angle);
      }),
    );
  function logits(w, samples, written) {
    const dense = (x, name) => linear(x, w[`${name}.weight`], w[`${name}.bias`]);
    const zeros = new Array(hidden).fill(0);
    const norm = (x, name) => layerNorm(x, w[`${name}.weight`], zeros, 1e-5);
    const attend = (x, source, at, seen) => {
      const [q, k, v] = [
        dense(x, `${at}.q_proj`),
        dense(source, `${at}.k_proj`),
        dense(source, `${at}.v_proj`),
      ];
      const isSelf = x === source;
      const [query, key] = isSelf ? [turnNeighbors(q), turnNeighbors(k)] : [q, k];
      const options = { heads, groups, scale: size ** -0.5, seen };
      return dense(attention(query, key, v, options), `${at}.o_proj`);
    };
    const part = (name) => w[`model.encoder.${name}`];
    const first = each(
      conv(
        samples.map((one) => [one]),
        part("conv1.weight"),
        undefined,
        127,
        64,
      ),
      Math.tanh,
    );
    // One group: all numbers together have the mean 0.
    const all = first.flat();
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
    const spread = Math.sqrt(
      all.reduce((sum, one) => sum + (one - mean) ** 2, 0) / all.length + 1e-5,
    );
    const normed = first.map((row) =>
      row.map(
        (one, j) =>
          ((one - mean) / spread) * part("groupnorm.weight")[j] + part("groupnorm.bias")[j],
      ),
    );
    const second = each(conv(normed, part("conv2.weight"), part("conv2.bias"), 7, 3), gelu);
    let x = each(conv(second, part("conv3.weight"), part("conv3.bias"), 3, 2), gelu);
    for (const i of range(2)) {
      const at = `model.encoder.layers.${i}`;
      const own = norm(x, `${at}.input_layernorm`);
      x = add(x, attend(own, own, `${at}.self_attn`));
      const inside = dense(norm(x, `${at}.post_attention_layernorm`), `${at}.mlp.fc1`);
      x = add(x, dense(each(inside, gelu), `${at}.mlp.fc2`));
    }
    const read = norm(x, "model.encoder.layer_norm");
    let y = lookUp(w["model.decoder.embed_tokens.weight"], written);
    for (const i of range(2)) {
      const at = `model.decoder.layers.${i}`;
      const own = norm(y, `${at}.input_layernorm`);
      y = add(y, attend(own, own, `${at}.self_attn`, causal));
      y = add(y, attend(norm(y, `${at}.post_attention_layernorm`), read, `${at}.encoder_attn`));
      const both = dense(norm(y, `${at}.final_layernorm`), `${at}.mlp.fc1`);
      const mixed = both.map((row) => range(inner).map((j) => row[j] * silu(row[inner + j])));
      y = add(y, dense(mixed, `${at}.mlp.fc2`));
    }
    return linear(norm(y, "model.decoder.norm"), w["model.decoder.embed_tokens.weight"]);
  }
  return { config, shapes, logits };
})();
