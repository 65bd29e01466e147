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
