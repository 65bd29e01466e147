// SigLIP and DINOv2 on arrays of numbers.

import { flat, normFirst, normOf, part, patchesOf, shapesOf } from "./plain_encoders.mjs";
import {
  add,
  attention,
  each,
  gelu,
  linear,
  lookUp,
  range,
  silu,
  tanhGelu,
} from "./plain_layers.mjs";

/** SigLIP: the scores of each text for each image. */
export const kSiglip = (() => {
  const [words, hidden, inner, heads, patch, size] = [20, 8, 12, 2, 3, 6];
  const tower = {
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    layer_norm_eps: 1e-6,
    hidden_act: "gelu_pytorch_tanh",
  };
  const config = {
    model_type: "siglip",
    text_config: {
      ...tower,
      vocab_size: words,
      max_position_embeddings: 8,
      model_type: "siglip_text_model",
    },
    vision_config: {
      ...tower,
      image_size: size,
      patch_size: patch,
      model_type: "siglip_vision_model",
    },
  };
  const names = (model, i) => {
    const at = `${model}.encoder.layers.${i}`;
    return {
      before: `${at}.layer_norm1`,
      after: `${at}.layer_norm2`,
      qkv: ["q", "k", "v"].map((one) => `${at}.self_attn.${one}_proj`),
      out: `${at}.self_attn.out_proj`,
      up: `${at}.mlp.fc1`,
      down: `${at}.mlp.fc2`,
    };
  };
  const shapes = shapesOf((put, all) => {
    all.logit_scale = [1];
    all.logit_bias = [1];
    all["text_model.embeddings.token_embedding.weight"] = [words, hidden];
    all["text_model.embeddings.position_embedding.weight"] = [8, hidden];
    all["vision_model.embeddings.patch_embedding.weight"] = [hidden, 3, patch, patch];
    all["vision_model.embeddings.patch_embedding.bias"] = [hidden];
    all["vision_model.embeddings.position_embedding.weight"] = [4, hidden];
    for (const model of ["text_model", "vision_model"]) {
      for (const i of range(2)) {
        const { before, after, qkv, out, up, down } = names(model, i);
        for (const norm of [before, after]) put(norm, hidden);
        for (const one of [...qkv, out]) put(one, hidden, hidden);
        put(up, inner, hidden);
        put(down, hidden, inner);
      }
    }
    put("text_model.final_layer_norm", hidden);
    put("text_model.head", hidden, hidden);
    put("vision_model.post_layernorm", hidden);
    const head = "vision_model.head";
    all[`${head}.probe`] = [1, 1, hidden];
    all[`${head}.attention.in_proj_weight`] = [3 * hidden, hidden];
    all[`${head}.attention.in_proj_bias`] = [3 * hidden];
    put(`${head}.attention.out_proj`, hidden, hidden);
    put(`${head}.layernorm`, hidden);
    put(`${head}.mlp.fc1`, inner, hidden);
    put(`${head}.mlp.fc2`, hidden, inner);
  });
  const unit = (row) => row.map((one) => one / Math.hypot(...row));
  function logits(w, texts, images) {
    const [dense, norm] = [part(w), normOf(w, 1e-6)];
    const options = { heads, act: tanhGelu, eps: 1e-6 };
    const text = texts.map((ids) => {
      const places = w["text_model.embeddings.position_embedding.weight"].slice(0, ids.length);
      let x = add(lookUp(w["text_model.embeddings.token_embedding.weight"], ids), places);
      for (const i of range(2)) x = normFirst(w, x, names("text_model", i), options);
      const last = norm(x, "text_model.final_layer_norm").slice(-1);
      return unit(dense(last, "text_model.head")[0]);
    });
    const image = images.map((pixels) => {
      const kernel = flat(w["vision_model.embeddings.patch_embedding.weight"]);
      const bias = w["vision_model.embeddings.patch_embedding.bias"];
      let x = add(
        linear(patchesOf(pixels, patch), kernel, bias),
        w["vision_model.embeddings.position_embedding.weight"],
      );
      for (const i of range(2)) x = normFirst(w, x, names("vision_model", i), options);
      x = norm(x, "vision_model.post_layernorm");
      const head = "vision_model.head";
      const [q, k, v] = [w[`${head}.probe`][0], x, x].map((rows, i) =>
        linear(
          rows,
          w[`${head}.attention.in_proj_weight`].slice(i * hidden, (i + 1) * hidden),
          w[`${head}.attention.in_proj_bias`].slice(i * hidden, (i + 1) * hidden),
        ),
      );
      const read = dense(
        attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5 }),
        `${head}.attention.out_proj`,
      );
      const inside = each(dense(norm(read, `${head}.layernorm`), `${head}.mlp.fc1`), tanhGelu);
      return unit(add(read, dense(inside, `${head}.mlp.fc2`))[0]);
    });
    const [scale] = w.logit_scale;
    return each(linear(text, image), (one) => one * Math.exp(scale) + w.logit_bias[0]);
  }
  return { config, shapes, logits };
})();

// The numbers of a row between those that are known, by cubic pieces of -0.75.
function bicubic(row, count) {
  const a = -0.75;
  return range(count).map((i) => {
    const place = ((i + 0.5) * row.length) / count - 0.5;
    const first = Math.floor(place);
    const t = place - first;
    const near = (x) => (a + 2) * x ** 3 - (a + 3) * x ** 2 + 1;
    const far = (x) => a * x ** 3 - 5 * a * x ** 2 + 8 * a * x - 4 * a;
    const shares = [far(t + 1), near(t), near(1 - t), far(2 - t)];
    return shares.reduce((sum, share, j) => {
      return sum + share * row[Math.min(Math.max(first - 1 + j, 0), row.length - 1)];
    }, 0);
  });
}

function dinov2(isGated) {
  const [hidden, heads, patch, side] = [12, 2, 2, 3];
  const inner = isGated ? 16 : 24;
  const config = {
    model_type: "dinov2",
    hidden_size: hidden,
    mlp_ratio: 2,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    image_size: patch * side,
    patch_size: patch,
    use_swiglu_ffn: isGated,
    layer_norm_eps: 1e-6,
    drop_path_rate: 0,
    layerscale_value: 1,
    apply_layernorm: true,
    reshape_hidden_states: true,
    out_features: ["stage2"],
    id2label: { 0: "a", 1: "b", 2: "c" },
  };
  const shapes = shapesOf((put, all) => {
    const at = "dinov2.embeddings";
    all[`${at}.cls_token`] = [1, 1, hidden];
    all[`${at}.mask_token`] = [1, hidden];
    all[`${at}.position_embeddings`] = [1, side ** 2 + 1, hidden];
    all[`${at}.patch_embeddings.projection.weight`] = [hidden, 3, patch, patch];
    all[`${at}.patch_embeddings.projection.bias`] = [hidden];
    for (const i of range(2)) {
      const layer = `dinov2.encoder.layer.${i}`;
      for (const norm of ["norm1", "norm2"]) put(`${layer}.${norm}`, hidden);
      for (const one of ["query", "key", "value"])
        put(`${layer}.attention.attention.${one}`, hidden, hidden);
      put(`${layer}.attention.output.dense`, hidden, hidden);
      for (const one of [1, 2]) all[`${layer}.layer_scale${one}.lambda1`] = [hidden];
      put(`${layer}.mlp.${isGated ? "weights_in" : "fc1"}`, isGated ? 2 * inner : inner, hidden);
      put(`${layer}.mlp.${isGated ? "weights_out" : "fc2"}`, hidden, inner);
    }
    put("dinov2.layernorm", hidden);
    put("classifier", 3, 2 * hidden);
  });
  function logits(w, image) {
    const [dense, norm] = [part(w), normOf(w, 1e-6)];
    const at = "dinov2.embeddings";
    const kernel = flat(w[`${at}.patch_embeddings.projection.weight`]);
    const patches = linear(
      patchesOf(image, patch),
      kernel,
      w[`${at}.patch_embeddings.projection.bias`],
    );
    const [first, ...grid] = w[`${at}.position_embeddings`][0];
    const now = Math.sqrt(patches.length);
    // Down, and then across.
    const tall = range(side).map((c) =>
      range(hidden).map((f) =>
        bicubic(
          range(side).map((r) => grid[r * side + c][f]),
          now,
        ),
      ),
    );
    const places = range(now).flatMap((r) => {
      const across = range(hidden).map((f) =>
        bicubic(
          range(side).map((c) => tall[c][f][r]),
          now,
        ),
      );
      return range(now).map((c) => range(hidden).map((f) => across[f][c]));
    });
    let x = add([w[`${at}.cls_token`][0][0], ...patches], [first, ...places]);
    const scaled = (rows, name) => rows.map((row) => row.map((one, j) => one * w[name][j]));
    for (const i of range(2)) {
      const layer = `dinov2.encoder.layer.${i}`;
      const own = norm(x, `${layer}.norm1`);
      const [q, k, v] = ["query", "key", "value"].map((one) =>
        dense(own, `${layer}.attention.attention.${one}`),
      );
      const read = attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5 });
      const out = dense(read, `${layer}.attention.output.dense`);
      x = add(x, scaled(out, `${layer}.layer_scale1.lambda1`));
      const next = norm(x, `${layer}.norm2`);
      const mixed = isGated
        ? dense(
            dense(next, `${layer}.mlp.weights_in`).map((row) =>
              range(inner).map((j) => silu(row[j]) * row[inner + j]),
            ),
            `${layer}.mlp.weights_out`,
          )
        : dense(each(dense(next, `${layer}.mlp.fc1`), gelu), `${layer}.mlp.fc2`);
      x = add(x, scaled(mixed, `${layer}.layer_scale2.lambda1`));
    }
    const [top, ...others] = norm(x, "dinov2.layernorm");
    const mean = top.map((_, j) => others.reduce((sum, row) => sum + row[j], 0) / others.length);
    return dense([[...top, ...mean]], "classifier")[0];
  }
  return { config, shapes, logits };
}

/** DINOv2, also with gated layers. */
export const kDinov2 = { dinov2: dinov2(false), "dinov2, gated": dinov2(true) };
