// Models that read texts and images on arrays of numbers: for each family a small config, the shapes of its weights under the names of their files, and
// what it computes.

import {
  add,
  attention,
  causal,
  each,
  frequencies,
  gelu,
  layerNorm,
  linear,
  lookUp,
  quickGelu,
  range,
  relu,
  rotate,
} from "./plain_layers.mjs";

// Collects shapes: put("dense", 4, 3) is a layer of 4 outputs, put("norm", 4) a norm.
export function shapesOf(fill) {
  const shapes = {};
  fill((name, out, inputs, bias = true) => {
    shapes[`${name}.weight`] = inputs ? [out, inputs] : [out];
    if (bias) shapes[`${name}.bias`] = [out];
  }, shapes);
  return shapes;
}

export const part = (w) => (x, name) => linear(x, w[`${name}.weight`], w[`${name}.bias`]);
export const normOf = (w, eps) => (x, name) =>
  layerNorm(x, w[`${name}.weight`], w[`${name}.bias`], eps);

function bert({ prefix, config, firstPosition = 0, types = 2, head }) {
  const { hidden_size: hidden, intermediate_size: inner, num_hidden_layers: layers } = config;
  const shapes = shapesOf((put, all) => {
    const at = `${prefix}.embeddings`;
    all[`${at}.word_embeddings.weight`] = [config.vocab_size, hidden];
    all[`${at}.position_embeddings.weight`] = [config.max_position_embeddings, hidden];
    all[`${at}.token_type_embeddings.weight`] = [types, hidden];
    put(`${at}.LayerNorm`, hidden);
    for (const i of range(layers)) {
      const layer = `${prefix}.encoder.layer.${i}`;
      for (const one of ["query", "key", "value"])
        put(`${layer}.attention.self.${one}`, hidden, hidden);
      put(`${layer}.attention.output.dense`, hidden, hidden);
      put(`${layer}.attention.output.LayerNorm`, hidden);
      put(`${layer}.intermediate.dense`, inner, hidden);
      put(`${layer}.output.dense`, hidden, inner);
      put(`${layer}.output.LayerNorm`, hidden);
    }
    head.shapes(put, hidden, all);
  });
  function logits(w, ids) {
    const [dense, norm] = [part(w), normOf(w, config.layer_norm_eps)];
    const at = `${prefix}.embeddings`;
    const places = ids.map((_, i) => i + firstPosition);
    let x = add(
      add(
        lookUp(w[`${at}.word_embeddings.weight`], ids),
        lookUp(w[`${at}.position_embeddings.weight`], places),
      ),
      ids.map(() => w[`${at}.token_type_embeddings.weight`][0]),
    );
    x = norm(x, `${at}.LayerNorm`);
    for (const i of range(layers)) {
      const layer = `${prefix}.encoder.layer.${i}`;
      const [q, k, v] = ["query", "key", "value"].map((one) =>
        dense(x, `${layer}.attention.self.${one}`),
      );
      const heads = config.num_attention_heads;
      const read = attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5 });
      x = norm(
        add(x, dense(read, `${layer}.attention.output.dense`)),
        `${layer}.attention.output.LayerNorm`,
      );
      const mixed = dense(
        each(dense(x, `${layer}.intermediate.dense`), gelu),
        `${layer}.output.dense`,
      );
      x = norm(add(x, mixed), `${layer}.output.LayerNorm`);
    }
    return head.logits({ w, dense, norm }, x);
  }
  return { config, shapes, logits };
}

const kBert = {
  vocab_size: 23,
  hidden_size: 12,
  intermediate_size: 18,
  num_hidden_layers: 2,
  num_attention_heads: 3,
  max_position_embeddings: 16,
  layer_norm_eps: 1e-6,
  hidden_dropout_prob: 0,
  attention_probs_dropout_prob: 0,
  id2label: { 0: "a", 1: "b", 2: "c" },
};

function distilbert(head) {
  const [words, hidden, inner, layers, heads] = [23, 12, 18, 2, 3];
  const config = {
    model_type: "distilbert",
    vocab_size: words,
    dim: hidden,
    hidden_dim: inner,
    n_layers: layers,
    n_heads: heads,
    max_position_embeddings: 16,
    activation: "gelu",
    dropout: 0,
    attention_dropout: 0,
    seq_classif_dropout: 0,
    id2label: { 0: "a", 1: "b", 2: "c" },
  };
  const shapes = shapesOf((put, all) => {
    all["distilbert.embeddings.word_embeddings.weight"] = [words, hidden];
    all["distilbert.embeddings.position_embeddings.weight"] = [16, hidden];
    put("distilbert.embeddings.LayerNorm", hidden);
    for (const i of range(layers)) {
      const at = `distilbert.transformer.layer.${i}`;
      for (const one of ["q_lin", "k_lin", "v_lin", "out_lin"])
        put(`${at}.attention.${one}`, hidden, hidden);
      put(`${at}.sa_layer_norm`, hidden);
      put(`${at}.ffn.lin1`, inner, hidden);
      put(`${at}.ffn.lin2`, hidden, inner);
      put(`${at}.output_layer_norm`, hidden);
    }
    head.shapes(put, hidden, all);
  });
  function logits(w, ids) {
    const [dense, norm] = [part(w), normOf(w, 1e-12)];
    const places = w["distilbert.embeddings.position_embeddings.weight"].slice(0, ids.length);
    let x = add(lookUp(w["distilbert.embeddings.word_embeddings.weight"], ids), places);
    x = norm(x, "distilbert.embeddings.LayerNorm");
    for (const i of range(layers)) {
      const at = `distilbert.transformer.layer.${i}`;
      const [q, k, v] = ["q_lin", "k_lin", "v_lin"].map((one) =>
        dense(x, `${at}.attention.${one}`),
      );
      const read = attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5 });
      x = norm(add(x, dense(read, `${at}.attention.out_lin`)), `${at}.sa_layer_norm`);
      x = norm(
        add(x, dense(each(dense(x, `${at}.ffn.lin1`), gelu), `${at}.ffn.lin2`)),
        `${at}.output_layer_norm`,
      );
    }
    return head.logits({ w, dense, norm }, x);
  }
  return { config, shapes, logits };
}

// MPNet's buckets: 8 of them, half for tokens after, and those far away share one.
function mpnetBucket(distance) {
  const away = Math.abs(distance);
  const start = distance > 0 ? 4 : 0;
  if (away < 2) return start + away;
  return start + Math.min(3, 2 + Math.floor((Math.log(away / 2) / Math.log(128 / 2)) * 2));
}

function mpnet(head) {
  const config = {
    ...kBert,
    model_type: "mpnet",
    pad_token_id: 1,
    relative_attention_num_buckets: 8,
  };
  const { vocab_size: words, hidden_size: hidden, intermediate_size: inner } = config;
  const heads = config.num_attention_heads;
  const shapes = shapesOf((put, all) => {
    all["mpnet.embeddings.word_embeddings.weight"] = [words, hidden];
    all["mpnet.embeddings.position_embeddings.weight"] = [16, hidden];
    put("mpnet.embeddings.LayerNorm", hidden);
    all["mpnet.encoder.relative_attention_bias.weight"] = [8, heads];
    for (const i of range(2)) {
      const at = `mpnet.encoder.layer.${i}`;
      for (const one of "qkvo") put(`${at}.attention.attn.${one}`, hidden, hidden);
      put(`${at}.attention.LayerNorm`, hidden);
      put(`${at}.intermediate.dense`, inner, hidden);
      put(`${at}.output.dense`, hidden, inner);
      put(`${at}.output.LayerNorm`, hidden);
    }
    head.shapes(put, hidden, all);
  });
  function logits(w, ids) {
    const [dense, norm] = [part(w), normOf(w, config.layer_norm_eps)];
    const places = w["mpnet.embeddings.position_embeddings.weight"].slice(2, ids.length + 2);
    let x = add(lookUp(w["mpnet.embeddings.word_embeddings.weight"], ids), places);
    x = norm(x, "mpnet.embeddings.LayerNorm");
    const table = w["mpnet.encoder.relative_attention_bias.weight"];
    const bias = (h, i, j) => table[mpnetBucket(j - i)][h];
    for (const i of range(2)) {
      const at = `mpnet.encoder.layer.${i}`;
      const [q, k, v] = [..."qkv"].map((one) => dense(x, `${at}.attention.attn.${one}`));
      const read = attention(q, k, v, { heads, scale: (hidden / heads) ** -0.5, bias });
      x = norm(add(x, dense(read, `${at}.attention.attn.o`)), `${at}.attention.LayerNorm`);
      const mixed = each(dense(x, `${at}.intermediate.dense`), gelu);
      x = norm(add(x, dense(mixed, `${at}.output.dense`)), `${at}.output.LayerNorm`);
    }
    return head.logits({ w, dense, norm }, x);
  }
  return { config, shapes, logits };
}

function modernbert(head, own = {}) {
  const [words, hidden, inner, heads] = [23, 12, 10, 3];
  const config = {
    model_type: "modernbert",
    vocab_size: words,
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 3,
    num_attention_heads: heads,
    max_position_embeddings: 16,
    global_attn_every_n_layers: 2,
    local_attention: 4,
    global_rope_theta: 900,
    local_rope_theta: 30,
    norm_eps: 1e-5,
    pad_token_id: 0,
    position_embedding_type: "absolute",
    reference_compile: true,
    id2label: { 0: "a", 1: "b", 2: "c" },
    ...own,
  };
  const shapes = shapesOf((put, all) => {
    all["model.embeddings.tok_embeddings.weight"] = [words, hidden];
    const norm = (name) => put(name, hidden, null, false);
    norm("model.embeddings.norm");
    norm("model.final_norm");
    for (const i of range(3)) {
      const at = `model.layers.${i}`;
      if (i > 0) norm(`${at}.attn_norm`);
      norm(`${at}.mlp_norm`);
      put(`${at}.attn.Wqkv`, 3 * hidden, hidden, false);
      put(`${at}.attn.Wo`, hidden, hidden, false);
      put(`${at}.mlp.Wi`, 2 * inner, hidden, false);
      put(`${at}.mlp.Wo`, hidden, inner, false);
    }
    head.shapes(put, hidden, all);
  });
  function logits(w, ids) {
    const dense = part(w);
    const zeros = new Array(hidden).fill(0);
    const norm = (x, name) => layerNorm(x, w[`${name}.weight`], zeros, 1e-5);
    let x = lookUp(w["model.embeddings.tok_embeddings.weight"], ids);
    x = norm(x, "model.embeddings.norm");
    for (const i of range(3)) {
      const at = `model.layers.${i}`;
      const isLocal = i % 2 === 1;
      const joined = dense(i > 0 ? norm(x, `${at}.attn_norm`) : x, `${at}.attn.Wqkv`);
      const [q, k, v] = range(3).map((one) =>
        joined.map((row) => row.slice(one * hidden, (one + 1) * hidden)),
      );
      const turn = frequencies(hidden / heads, isLocal ? 30 : 900);
      const near = (a, b) => !isLocal || Math.abs(a - b) <= 2;
      const options = { heads, scale: (hidden / heads) ** -0.5, seen: near };
      const read = attention(rotate(q, heads, turn), rotate(k, heads, turn), v, options);
      x = add(x, dense(read, `${at}.attn.Wo`));
      const both = dense(norm(x, `${at}.mlp_norm`), `${at}.mlp.Wi`);
      const mixed = both.map((row) => range(inner).map((j) => gelu(row[j]) * row[inner + j]));
      x = add(x, dense(mixed, `${at}.mlp.Wo`));
    }
    return head.logits({ w, dense, norm }, norm(x, "model.final_norm"));
  }
  return { config, shapes, logits };
}

// DeBERTa's buckets: distances up to 2 have their own, longer ones up to 15 share those up to 4.
function debertaBucket(distance) {
  const away = Math.abs(distance);
  if (away <= 2) return distance;
  const far = Math.ceil(Math.log(away / 2) / Math.log(15 / 2)) + 2;
  return Math.sign(distance) * far;
}

function deberta(head, { shared = true, kinds = ["p2c", "c2p"] } = {}) {
  const config = {
    ...kBert,
    model_type: "deberta-v2",
    relative_attention: true,
    position_buckets: 4,
    max_relative_positions: -1,
    norm_rel_ebd: shared ? "layer_norm" : "none",
    share_att_key: shared,
    pos_att_type: shared ? kinds.join("|") : kinds,
    position_biased_input: !shared,
    type_vocab_size: shared ? 0 : 2,
    pooler_hidden_act: "gelu",
    pooler_dropout: 0,
    pooler_hidden_size: kBert.hidden_size,
  };
  const { vocab_size: words, hidden_size: hidden, intermediate_size: inner } = config;
  const heads = config.num_attention_heads;
  const size = hidden / heads;
  const shapes = shapesOf((put, all) => {
    all["deberta.embeddings.word_embeddings.weight"] = [words, hidden];
    if (!shared) {
      all["deberta.embeddings.position_embeddings.weight"] = [16, hidden];
      all["deberta.embeddings.token_type_embeddings.weight"] = [2, hidden];
    }
    put("deberta.embeddings.LayerNorm", hidden);
    all["deberta.encoder.rel_embeddings.weight"] = [8, hidden];
    if (shared) put("deberta.encoder.LayerNorm", hidden);
    for (const i of range(2)) {
      const at = `deberta.encoder.layer.${i}`;
      for (const one of ["query", "key", "value"])
        put(`${at}.attention.self.${one}_proj`, hidden, hidden);
      if (!shared && kinds.includes("c2p"))
        put(`${at}.attention.self.pos_key_proj`, hidden, hidden);
      if (!shared && kinds.includes("p2c"))
        put(`${at}.attention.self.pos_query_proj`, hidden, hidden);
      put(`${at}.attention.output.dense`, hidden, hidden);
      put(`${at}.attention.output.LayerNorm`, hidden);
      put(`${at}.intermediate.dense`, inner, hidden);
      put(`${at}.output.dense`, hidden, inner);
      put(`${at}.output.LayerNorm`, hidden);
    }
    head.shapes(put, hidden, all);
  });
  const dot = (a, b) => a.reduce((sum, one, i) => sum + one * b[i], 0);
  function logits(w, ids) {
    const [dense, norm] = [part(w), normOf(w, config.layer_norm_eps)];
    let x = lookUp(w["deberta.embeddings.word_embeddings.weight"], ids);
    if (!shared) {
      x = add(x, w["deberta.embeddings.position_embeddings.weight"].slice(0, ids.length));
      x = add(
        x,
        ids.map(() => w["deberta.embeddings.token_type_embeddings.weight"][0]),
      );
    }
    x = norm(x, "deberta.embeddings.LayerNorm");
    const raw = w["deberta.encoder.rel_embeddings.weight"];
    const table = shared ? norm(raw, "deberta.encoder.LayerNorm") : raw;
    const scale = (size * (1 + kinds.length)) ** -0.5;
    for (const i of range(2)) {
      const at = `deberta.encoder.layer.${i}`;
      const self = `${at}.attention.self`;
      const [q, k, v] = ["query", "key", "value"].map((one) => dense(x, `${self}.${one}_proj`));
      const placeKeys = kinds.includes("c2p")
        ? dense(table, shared ? `${self}.key_proj` : `${self}.pos_key_proj`)
        : null;
      const placeQueries = kinds.includes("p2c")
        ? dense(table, shared ? `${self}.query_proj` : `${self}.pos_query_proj`)
        : null;
      const ofHead = (row, h) => row.slice(h * size, (h + 1) * size);
      // The number of a distance: 4 is none.
      const place = (distance) => Math.min(7, Math.max(0, debertaBucket(distance) + 4));
      const bias = (h, a, b) => {
        const c2p = placeKeys ? dot(ofHead(q[a], h), ofHead(placeKeys[place(a - b)], h)) : 0;
        // Seen from the key: its distance to the query, the other way round.
        const p2c = placeQueries
          ? dot(
              ofHead(k[b], h),
              ofHead(placeQueries[Math.min(7, Math.max(0, 4 - debertaBucket(b - a)))], h),
            )
          : 0;
        return (c2p + p2c) * scale;
      };
      const read = attention(q, k, v, { heads, scale, bias });
      x = norm(
        add(x, dense(read, `${at}.attention.output.dense`)),
        `${at}.attention.output.LayerNorm`,
      );
      const mixed = each(dense(x, `${at}.intermediate.dense`), gelu);
      x = norm(add(x, dense(mixed, `${at}.output.dense`)), `${at}.output.LayerNorm`);
    }
    return head.logits({ w, dense, norm }, x);
  }
  return { config, shapes, logits };
}

// ModernBERT's heads have a layer of their own before the scores.
const modernHead = (after, rowsOf = (x) => x) => ({
  shapes: (put, hidden, all) => {
    put("head.dense", hidden, hidden, false);
    put("head.norm", hidden, null, false);
    after.shapes(put, hidden, all);
  },
  logits: (tools, x) => {
    const read = tools.norm(each(tools.dense(rowsOf(x), "head.dense"), gelu), "head.norm");
    return after.logits(tools, read);
  },
});

const threeClasses = {
  shapes: (put, hidden) => put("classifier", 3, hidden),
  logits: ({ dense }, x) => dense(x, "classifier")[0],
};

const meanOf = (rows) => [
  rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length),
];

const kRoberta = { ...kBert, model_type: "roberta", type_vocab_size: 1, pad_token_id: 1 };

const bertWith = (head) =>
  bert({ prefix: "bert", config: { ...kBert, model_type: "bert", type_vocab_size: 2 }, head });

const robertaWith = (head) =>
  bert({ prefix: "roberta", config: kRoberta, firstPosition: 2, types: 1, head });

// A classifier of two layers that reads the first token.
function classifier({ first, second, act }) {
  return {
    shapes: (put, hidden) => {
      put(first, hidden, hidden);
      put(second, 3, hidden);
    },
    logits: ({ dense }, x) => dense(each(dense(x.slice(0, 1), first), act), second)[0],
  };
}

// The scores of words: they are products with the words' own vectors.
function wordScores({ dense: first, norm: second, words, bias }) {
  return {
    shapes: (put, hidden, all) => {
      put(first, hidden, hidden);
      put(second, hidden);
      all[bias] = [kBert.vocab_size];
    },
    logits: ({ w, dense, norm }, x) =>
      linear(norm(each(dense(x, first), gelu), second), w[words], w[bias]),
  };
}

/** The classifiers of texts by name. */
export const kTextClassifiers = {
  bert: bertWith(classifier({ first: "bert.pooler.dense", second: "classifier", act: Math.tanh })),
  roberta: robertaWith(
    classifier({ first: "classifier.dense", second: "classifier.out_proj", act: Math.tanh }),
  ),
  distilbert: distilbert(classifier({ first: "pre_classifier", second: "classifier", act: relu })),
  mpnet: mpnet(
    classifier({ first: "classifier.dense", second: "classifier.out_proj", act: Math.tanh }),
  ),
  "deberta-v2": deberta(classifier({ first: "pooler.dense", second: "classifier", act: gelu })),
  "deberta-v2, with positions": deberta(
    classifier({ first: "pooler.dense", second: "classifier", act: gelu }),
    { shared: false },
  ),
  "deberta-v2, one comparison": deberta(
    classifier({ first: "pooler.dense", second: "classifier", act: gelu }),
    { shared: false, kinds: ["p2c"] },
  ),
  modernbert: modernbert(modernHead(threeClasses, (x) => x.slice(0, 1))),
  "modernbert, the mean of tokens": modernbert(modernHead(threeClasses, meanOf), {
    classifier_pooling: "mean",
  }),
};

// One row of scores for each token.
const perToken = (name, count) => ({
  shapes: (put, hidden) => put(name, count, hidden),
  logits: ({ dense }, x) => dense(x, name),
});

/** Encoders by name, with a head that reads each token. */
export const kEncodersWith = {
  bert: (name, count) => bertWith(perToken(name, count)),
  roberta: (name, count) => robertaWith(perToken(name, count)),
  distilbert: (name, count) => distilbert(perToken(name, count)),
  mpnet: (name, count) => mpnet(perToken(name, count)),
  "deberta-v2": (name, count) => deberta(perToken(name, count)),
  modernbert: (name, count) => modernbert(modernHead(perToken(name, count))),
};

/** The models that predict hidden tokens by name, and the tied parameters that their files may also have. */
export const kMaskedModels = {
  bert: {
    ...bertWith(
      wordScores({
        dense: "cls.predictions.transform.dense",
        norm: "cls.predictions.transform.LayerNorm",
        words: "bert.embeddings.word_embeddings.weight",
        bias: "cls.predictions.bias",
      }),
    ),
    head: ["cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"],
  },
  roberta: {
    ...robertaWith(
      wordScores({
        dense: "lm_head.dense",
        norm: "lm_head.layer_norm",
        words: "roberta.embeddings.word_embeddings.weight",
        bias: "lm_head.bias",
      }),
    ),
    head: ["lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight"],
  },
  mpnet: {
    ...mpnet(
      wordScores({
        dense: "lm_head.dense",
        norm: "lm_head.layer_norm",
        words: "mpnet.embeddings.word_embeddings.weight",
        bias: "lm_head.bias",
      }),
    ),
    head: ["lm_head.decoder.weight", "mpnet.embeddings.word_embeddings.weight"],
  },
  modernbert: {
    ...modernbert(
      modernHead({
        shapes: (_put, _hidden, all) => {
          all["decoder.bias"] = [kBert.vocab_size];
        },
        logits: ({ w }, x) =>
          linear(x, w["model.embeddings.tok_embeddings.weight"], w["decoder.bias"]),
      }),
    ),
    head: ["decoder.weight", "model.embeddings.tok_embeddings.weight"],
  },
  distilbert: {
    ...distilbert(
      wordScores({
        dense: "vocab_transform",
        norm: "vocab_layer_norm",
        words: "distilbert.embeddings.word_embeddings.weight",
        bias: "vocab_projector.bias",
      }),
    ),
    head: ["vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"],
  },
};

// The patches of an image [channels][height][width], each as the numbers that a kernel [out][channels][patch][patch] is multiplied with.
export function patchesOf(image, patch) {
  const count = image[0].length / patch;
  return range(count * count).map((place) => {
    const [top, left] = [Math.floor(place / count) * patch, (place % count) * patch];
    return image.flatMap((channel) =>
      range(patch).flatMap((y) => channel[top + y].slice(left, left + patch)),
    );
  });
}

export const flat = (kernel) => kernel.map((one) => one.flat(2));

// Layers that norm before each part, as ViT and CLIP have them.
export function normFirst(w, x, names, { heads, act, eps, seen }) {
  const [dense, norm] = [part(w), normOf(w, eps)];
  const read = norm(x, names.before);
  const [q, k, v] = names.qkv.map((one) => dense(read, one));
  const scale = (x[0].length / heads) ** -0.5;
  const first = add(x, dense(attention(q, k, v, { heads, scale, seen }), names.out));
  return add(first, dense(each(dense(norm(first, names.after), names.up), act), names.down));
}

/** ViT. */
export const kVit = (() => {
  const [hidden, inner, heads, patch, size, layers] = [12, 16, 2, 2, 6, 2];
  const config = {
    model_type: "vit",
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    image_size: size,
    patch_size: patch,
    num_channels: 3,
    layer_norm_eps: 1e-6,
    id2label: { 0: "a", 1: "b" },
  };
  const names = (i) => {
    const at = `vit.encoder.layer.${i}`;
    return {
      before: `${at}.layernorm_before`,
      after: `${at}.layernorm_after`,
      qkv: ["query", "key", "value"].map((one) => `${at}.attention.attention.${one}`),
      out: `${at}.attention.output.dense`,
      up: `${at}.intermediate.dense`,
      down: `${at}.output.dense`,
    };
  };
  const shapes = shapesOf((put, all) => {
    all["vit.embeddings.cls_token"] = [1, 1, hidden];
    all["vit.embeddings.position_embeddings"] = [1, 10, hidden];
    all["vit.embeddings.patch_embeddings.projection.weight"] = [hidden, 3, patch, patch];
    all["vit.embeddings.patch_embeddings.projection.bias"] = [hidden];
    for (const i of range(layers)) {
      const { before, after, qkv, out, up, down } = names(i);
      for (const norm of [before, after]) put(norm, hidden);
      for (const one of [...qkv, out]) put(one, hidden, hidden);
      put(up, inner, hidden);
      put(down, hidden, inner);
    }
    put("vit.layernorm", hidden);
    put("classifier", 2, hidden);
  });
  function logits(w, image) {
    const kernel = flat(w["vit.embeddings.patch_embeddings.projection.weight"]);
    const patches = linear(
      patchesOf(image, patch),
      kernel,
      w["vit.embeddings.patch_embeddings.projection.bias"],
    );
    let x = add(
      [w["vit.embeddings.cls_token"][0][0], ...patches],
      w["vit.embeddings.position_embeddings"][0],
    );
    for (const i of range(layers)) x = normFirst(w, x, names(i), { heads, act: gelu, eps: 1e-6 });
    return part(w)(normOf(w, 1e-6)(x.slice(0, 1), "vit.layernorm"), "classifier")[0];
  }
  return { config, shapes, logits };
})();

/** CLIP: the scores of each text for each image. */
export const kClip = (() => {
  const [words, hidden, inner, heads, patch, size, together] = [20, 8, 12, 2, 3, 6, 5];
  const tower = {
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    hidden_act: "quick_gelu",
  };
  const config = {
    model_type: "clip",
    projection_dim: together,
    text_config: { ...tower, vocab_size: words, max_position_embeddings: 8, eos_token_id: 19 },
    vision_config: { ...tower, image_size: size, patch_size: patch },
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
    all.logit_scale = [];
    all["text_model.embeddings.token_embedding.weight"] = [words, hidden];
    all["text_model.embeddings.position_embedding.weight"] = [8, hidden];
    all["vision_model.embeddings.class_embedding"] = [hidden];
    all["vision_model.embeddings.patch_embedding.weight"] = [hidden, 3, patch, patch];
    all["vision_model.embeddings.position_embedding.weight"] = [5, hidden];
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
    put("vision_model.pre_layrnorm", hidden);
    put("vision_model.post_layernorm", hidden);
    put("visual_projection", together, hidden, false);
    put("text_projection", together, hidden, false);
  });
  const unit = (row) => row.map((one) => one / Math.hypot(...row));
  function logits(w, texts, images) {
    const [dense, norm] = [part(w), normOf(w, 1e-5)];
    const options = { heads, act: quickGelu, eps: 1e-5 };
    const text = texts.map((ids) => {
      const places = w["text_model.embeddings.position_embedding.weight"].slice(0, ids.length);
      let x = add(lookUp(w["text_model.embeddings.token_embedding.weight"], ids), places);
      for (const i of range(2))
        x = normFirst(w, x, names("text_model", i), { ...options, seen: causal });
      const end = norm(x, "text_model.final_layer_norm")[ids.indexOf(19)];
      return unit(dense([end], "text_projection")[0]);
    });
    const image = images.map((pixels) => {
      const kernel = flat(w["vision_model.embeddings.patch_embedding.weight"]);
      const patches = linear(patchesOf(pixels, patch), kernel);
      const rows = [w["vision_model.embeddings.class_embedding"], ...patches];
      let x = norm(
        add(rows, w["vision_model.embeddings.position_embedding.weight"]),
        "vision_model.pre_layrnorm",
      );
      for (const i of range(2)) x = normFirst(w, x, names("vision_model", i), options);
      return unit(
        dense(norm(x.slice(0, 1), "vision_model.post_layernorm"), "visual_projection")[0],
      );
    });
    return each(linear(text, image), (one) => one * Math.exp(w.logit_scale));
  }
  return { config, shapes, logits };
})();
