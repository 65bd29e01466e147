// Gemma 3 with images on arrays of numbers.

import { kDecoders } from "./plain_decoders.mjs";
import { flat, normFirst, normOf, patchesOf, shapesOf } from "./plain_encoders.mjs";
import { add, linear, range, rmsNorm, tanhGelu } from "./plain_layers.mjs";

const { config: text, shapes: textShapes, logits: textLogits } = kDecoders.gemma3_text;

// Images of 6 x 6 patches, of which 3 x 3 become one vector.
const [hidden, inner, heads, patch, size, side] = [8, 12, 2, 2, 12, 2];
const [kTower, kProjector] = ["vision_tower.vision_model", "multi_modal_projector"];
const kPatches = size / patch;

const namesOf = (i) => {
  const at = `${kTower}.encoder.layers.${i}`;
  return {
    before: `${at}.layer_norm1`,
    after: `${at}.layer_norm2`,
    qkv: ["q", "k", "v"].map((one) => `${at}.self_attn.${one}_proj`),
    out: `${at}.self_attn.out_proj`,
    up: `${at}.mlp.fc1`,
    down: `${at}.mlp.fc2`,
  };
};

const config = {
  model_type: "gemma3",
  boi_token_index: 16,
  eoi_token_index: 17,
  image_token_index: 18,
  mm_tokens_per_image: side ** 2,
  text_config: text,
  vision_config: {
    model_type: "siglip_vision_model",
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    image_size: size,
    patch_size: patch,
    vision_use_head: false,
  },
};

const shapes = {
  ...Object.fromEntries(
    Object.entries(textShapes).map(([name, shape]) => [`language_model.${name}`, shape]),
  ),
  ...shapesOf((put, all) => {
    const at = `${kTower}.embeddings`;
    all[`${at}.patch_embedding.weight`] = [hidden, 3, patch, patch];
    all[`${at}.patch_embedding.bias`] = [hidden];
    all[`${at}.position_embedding.weight`] = [kPatches ** 2, hidden];
    for (const i of range(2)) {
      const { before, after, qkv, out, up, down } = namesOf(i);
      for (const norm of [before, after]) put(norm, hidden);
      for (const one of [...qkv, out]) put(one, hidden, hidden);
      put(up, inner, hidden);
      put(down, hidden, inner);
    }
    put(`${kTower}.post_layernorm`, hidden);
    put(`${kProjector}.mm_soft_emb_norm`, hidden, 0, false);
    all[`${kProjector}.mm_input_projection_weight`] = [hidden, text.hidden_size];
  }),
};

// The vectors of an image [channels][height][width].
function features(w, image) {
  const at = `${kTower}.embeddings`;
  const kernel = flat(w[`${at}.patch_embedding.weight`]);
  const patches = linear(patchesOf(image, patch), kernel, w[`${at}.patch_embedding.bias`]);
  let x = add(patches, w[`${at}.position_embedding.weight`]);
  const options = { heads, act: tanhGelu, eps: 1e-6 };
  for (const i of range(2)) x = normFirst(w, x, namesOf(i), options);
  x = normOf(w, 1e-6)(x, `${kTower}.post_layernorm`);
  const pool = kPatches / side;
  const means = range(side ** 2).map((place) => {
    const [top, left] = [Math.floor(place / side) * pool, (place % side) * pool];
    const near = range(pool ** 2).map(
      (one) => x[(top + Math.floor(one / pool)) * kPatches + left + (one % pool)],
    );
    return range(hidden).map((f) => near.reduce((sum, row) => sum + row[f], 0) / near.length);
  });
  const normed = rmsNorm(means, w[`${kProjector}.mm_soft_emb_norm.weight`], 1e-6, 1);
  const matrix = w[`${kProjector}.mm_input_projection_weight`];
  return normed.map((row) =>
    range(text.hidden_size).map((j) => row.reduce((sum, one, f) => sum + one * matrix[f][j], 0)),
  );
}

// The scores of each next token of a text in which each image is a run of the token 18.
function logits(w, ids, images) {
  const own = Object.fromEntries(
    Object.keys(textShapes).map((name) => [name, w[`language_model.${name}`]]),
  );
  const vectors = images.flatMap((one) => features(w, one));
  let run = -1;
  const runs = ids.map((id, i) => {
    if (id !== 18) return null;
    if (ids[i - 1] !== 18) run++;
    return run;
  });
  return textLogits(own, ids, {
    placed: (x) => {
      let next = 0;
      return x.map((row, i) => (runs[i] === null ? row : vectors[next++]));
    },
    alsoSeen: (i, j) => runs[i] !== null && runs[i] === runs[j],
  });
}

/** Gemma 3 with images, whose layers for texts are those of `kDecoders.gemma3_text`. */
export const kGemma3 = { config, shapes, logits };
