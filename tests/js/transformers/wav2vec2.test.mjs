// wav2vec 2.0: its scores, loss and gradients are those of its formulas on plain numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AutoModelForCTC } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { add, attention, each, gelu, layerNorm, linear, range } from "../support/plain_layers.mjs";
import { distance, drawWeights, filesOf, slopeDistance } from "../support/pretrained.mjs";

const [hidden, inner, heads, words, size] = [8, 12, 2, 6, 5];
const kConvs = [
  [4, 3],
  [3, 2],
];

function wav2vec2(isNormFirst) {
  const config = {
    model_type: "wav2vec2",
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    num_feat_extract_layers: 2,
    conv_dim: [size, size],
    conv_kernel: kConvs.map(([kernel]) => kernel),
    conv_stride: kConvs.map(([, stride]) => stride),
    conv_bias: isNormFirst,
    feat_extract_norm: isNormFirst ? "layer" : "group",
    do_stable_layer_norm: isNormFirst,
    num_conv_pos_embeddings: 4,
    num_conv_pos_embedding_groups: 2,
    vocab_size: words,
    pad_token_id: 0,
    mask_time_prob: isNormFirst ? 0 : 0.05,
    layerdrop: 0.1,
    num_codevector_groups: 2,
    tdnn_dim: [512, 512],
    ctc_loss_reduction: "sum",
    ctc_zero_infinity: false,
  };
  const at = "wav2vec2";
  const shapes = { [`${at}.encoder.pos_conv_embed.conv.weight_g`]: [1, 1, 4] };
  const put = (name, out, inputs) => {
    shapes[`${name}.weight`] = inputs ? [out, inputs].flat() : [out];
    shapes[`${name}.bias`] = [out];
  };
  shapes[`${at}.encoder.pos_conv_embed.conv.weight_v`] = [hidden, hidden / 2, 4];
  shapes[`${at}.encoder.pos_conv_embed.conv.bias`] = [hidden];
  if (!isNormFirst) shapes[`${at}.masked_spec_embed`] = [hidden];
  kConvs.forEach(([kernel], i) => {
    const conv = `${at}.feature_extractor.conv_layers.${i}`;
    shapes[`${conv}.conv.weight`] = [size, i ? size : 1, kernel];
    if (isNormFirst) shapes[`${conv}.conv.bias`] = [size];
    if (isNormFirst || i === 0) put(`${conv}.layer_norm`, size);
  });
  put(`${at}.feature_projection.layer_norm`, size);
  put(`${at}.feature_projection.projection`, hidden, size);
  put(`${at}.encoder.layer_norm`, hidden);
  for (const i of range(2)) {
    const layer = `${at}.encoder.layers.${i}`;
    for (const one of ["k", "v", "q", "out"]) put(`${layer}.attention.${one}_proj`, hidden, hidden);
    put(`${layer}.layer_norm`, hidden);
    put(`${layer}.feed_forward.intermediate_dense`, inner, hidden);
    put(`${layer}.feed_forward.output_dense`, hidden, inner);
    put(`${layer}.final_layer_norm`, hidden);
  }
  put("lm_head", words, hidden);

  function logits(w, samples) {
    const dense = (x, name) => linear(x, w[`${name}.weight`], w[`${name}.bias`]);
    const norm = (x, name) => layerNorm(x, w[`${name}.weight`], w[`${name}.bias`], 1e-5);
    let x = samples.map((one) => [one]);
    kConvs.forEach(([kernel, stride], i) => {
      const conv = `${at}.feature_extractor.conv_layers.${i}`;
      const flat = w[`${conv}.conv.weight`].map((out) =>
        range(kernel).flatMap((t) => out.map((one) => one[t])),
      );
      const count = Math.floor((x.length - kernel) / stride) + 1;
      x = linear(
        range(count).map((j) => x.slice(j * stride, j * stride + kernel).flat()),
        flat,
        w[`${conv}.conv.bias`],
      );
      if (isNormFirst) x = norm(x, `${conv}.layer_norm`);
      else if (i === 0) {
        // Each feature by itself, over time.
        const columns = range(size).map((c) => x.map((row) => row[c]));
        const ones = new Array(x.length).fill(1);
        const normed = layerNorm(columns, ones, new Array(x.length).fill(0), 1e-5);
        const [weight, bias] = [w[`${conv}.layer_norm.weight`], w[`${conv}.layer_norm.bias`]];
        x = x.map((row, t) => row.map((_, c) => normed[c][t] * weight[c] + bias[c]));
      }
      x = each(x, gelu);
    });
    x = dense(
      norm(x, `${at}.feature_projection.layer_norm`),
      `${at}.feature_projection.projection`,
    );
    const conv = `${at}.encoder.pos_conv_embed.conv`;
    const [length, direction] = [w[`${conv}.weight_g`][0][0], w[`${conv}.weight_v`]];
    const norms = range(4).map((t) =>
      Math.sqrt(direction.flat().reduce((sum, row) => sum + row[t] ** 2, 0)),
    );
    const placed = x.map((_, i) =>
      range(hidden).map((o) => {
        let sum = w[`${conv}.bias`][o];
        const first = o < hidden / 2 ? 0 : hidden / 2;
        for (const c of range(hidden / 2)) {
          for (const t of range(4)) {
            const row = x[i + t - 2];
            if (row) sum += ((direction[o][c][t] * length[t]) / norms[t]) * row[first + c];
          }
        }
        return gelu(sum);
      }),
    );
    x = add(x, placed);
    if (!isNormFirst) x = norm(x, `${at}.encoder.layer_norm`);
    for (const i of range(2)) {
      const layer = `${at}.encoder.layers.${i}`;
      const attend = (read) => {
        const [q, k, v] = [..."qkv"].map((one) => dense(read, `${layer}.attention.${one}_proj`));
        const options = { heads, scale: (hidden / heads) ** -0.5 };
        return dense(attention(q, k, v, options), `${layer}.attention.out_proj`);
      };
      const feed = (read) =>
        dense(
          each(dense(read, `${layer}.feed_forward.intermediate_dense`), gelu),
          `${layer}.feed_forward.output_dense`,
        );
      if (isNormFirst) {
        x = add(x, attend(norm(x, `${layer}.layer_norm`)));
        x = add(x, feed(norm(x, `${layer}.final_layer_norm`)));
      } else {
        x = norm(add(x, attend(x)), `${layer}.layer_norm`);
        x = norm(add(x, feed(x)), `${layer}.final_layer_norm`);
      }
    }
    if (isNormFirst) x = norm(x, `${at}.encoder.layer_norm`);
    return dense(x, "lm_head");
  }
  return { config, shapes, logits };
}

// The probability of all ways to write the characters, one after the other with nothing between or before them.
function ctcLossOf(rows, characters) {
  const shares = rows.map((row) => {
    const sum = row.reduce((all, one) => all + Math.exp(one), 0);
    return row.map((one) => Math.exp(one) / sum);
  });
  const ways = characters.flatMap((one) => [0, one]).concat(0);
  let now = ways.map((one, i) => (i < 2 ? shares[0][one] : 0));
  for (const row of shares.slice(1)) {
    now = ways.map((one, i) => {
      const skips = one !== 0 && i > 1 && one !== ways[i - 2] ? now[i - 2] : 0;
      return row[one] * (now[i] + (now[i - 1] ?? 0) + skips);
    });
  }
  return -Math.log(now.at(-1) + now.at(-2));
}

for (const isNormFirst of [false, true]) {
  describe(isNormFirst ? "wav2vec 2.0 with norms first" : "wav2vec 2.0", () => {
    const { config, shapes, logits } = wav2vec2(isNormFirst);
    const { tensors, arrays } = drawWeights(shapes);
    const samples = eg.randn([1, 70], { generator: new eg.Generator(4) });
    const [recording] = samples.arraySync();
    const open = (given = tensors) => AutoModelForCTC.fromPretrained(filesOf(config, given));

    test("has the scores, loss and gradients of its formulas", async () => {
      const model = await open();
      const labels = eg.tensor([[2, 2, 5, -100]], { dtype: "int64" });
      const { logits: own, loss } = model.call(samples, { labels });
      const wanted = logits(arrays, recording);
      assert.ok(distance(own, wanted) < 2e-5);
      const lossOf = (w) => ctcLossOf(logits(w, recording), [2, 2, 5]);
      assert.ok(Math.abs(loss.item() - lossOf(arrays)) < 1e-3);
      loss.backward();
      assert.ok(slopeDistance(model, shapes, arrays, lossOf) < 1e-3);
    });

    test("reads and writes newer names of its kernel", async () => {
      const newer = Object.fromEntries(
        Object.entries(tensors).map(([name, one]) => [
          name
            .replace("weight_g", "parametrizations.weight.original0")
            .replace("weight_v", "parametrizations.weight.original1"),
          one,
        ]),
      );
      const model = await open(newer);
      assert.ok(distance(model.call(samples).logits, logits(arrays, recording)) < 2e-5);
      const saved = eg.io.loadSafetensors((await model.savePretrained())["model.safetensors"]);
      assert.deepEqual(Object.keys(saved).sort(), Object.keys(newer).sort());
    });

    test("does not see padding, where norms do not", async () => {
      if (!isNormFirst) return;
      const model = await open();
      const { logits: alone } = model.call(samples);
      const padded = eg.cat([samples, eg.zeros([1, 24])], 1);
      const attentionMask = eg.cat([eg.ones([1, 70]), eg.zeros([1, 24])], 1);
      const { logits: own } = model.call(padded, { attentionMask });
      const near = { rtol: 1e-4, atol: 1e-4 };
      eg.testing.assertClose(own.narrow(1, 0, alone.shape[1]), alone, near);
      assert.throws(() => model.call(eg.ones([2])), /expected samples/);
    });
  });
}

const kNoSpans = { mask_time_prob: 0.05, apply_spec_augment: false };

describe("training of wav2vec 2.0", () => {
  const { config, shapes } = wav2vec2(false);
  const { tensors } = drawWeights(shapes);
  const samples = eg.randn([3, 400], { generator: new eg.Generator(4) });
  const still = {
    attention_dropout: 0,
    activation_dropout: 0,
    hidden_dropout: 0,
    feat_proj_dropout: 0,
    final_dropout: 0,
    layerdrop: 0,
    mask_time_prob: 0,
  };
  const open = (own) =>
    AutoModelForCTC.fromPretrained(filesOf({ ...config, ...still, ...own }, tensors));

  // What the encoder reads.
  function readBy(model, ...given) {
    let read;
    const hook = model.wav2vec2.encoder.registerForwardPreHook((_, [x]) => {
      read = eg.keep(x.detach().clone());
    });
    const output = model.call(...given);
    hook.remove();
    return { read, output };
  }

  test("leaves out layers by their chance", async () => {
    const model = (await open({ layerdrop: 0.5, ...kNoSpans })).train();
    eg.manualSeed(1);
    const counts = new Map();
    for (let i = 0; i < 60; i++) {
      const key = eg.noGrad(() => model.call(samples).logits.sum().item().toFixed(4));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    // Of two layers: none, one, the other, or both.
    assert.equal(counts.size, 4);
    for (const count of counts.values()) assert.ok(count > 4 && count < 30, String(count));
    const whole = model.eval().call(samples).logits.sum().item().toFixed(4);
    assert.ok(counts.has(whole));
    const all = (await open({ layerdrop: 1, ...kNoSpans })).train();
    const { loss } = all.call(samples, { labels: eg.tensor([[2], [3], [1]], { dtype: "int64" }) });
    loss.backward();
    assert.equal(all.wav2vec2.encoder.layers.at(0).layer_norm.weight.grad, null);
  });

  test("hides spans of moments, and learns the vector that stands for them", async () => {
    const model = (await open({ mask_time_prob: 0.5, mask_time_length: 4 })).train();
    eg.manualSeed(2);
    const vector = model.wav2vec2.masked_spec_embed;
    const shares = [];
    for (let i = 0; i < 20; i++) {
      const { read } = eg.noGrad(() => readBy(model, samples));
      const isHidden = read.eq(vector).all(-1).arraySync();
      for (const row of isHidden) {
        const text = row.map((one) => (one ? "x" : ".")).join("");
        for (const span of text.match(/x+/g)) assert.ok(span.length >= 4, text);
        shares.push(row.filter(Boolean).length / row.length);
      }
    }
    // Half of the moments would be in spans if these did not overlap.
    const mean = shares.reduce((all, one) => all + one, 0) / shares.length;
    assert.ok(mean > 0.3 && mean < 0.5, String(mean));
    const labels = eg.tensor([[2], [3], [1]], { dtype: "int64" });
    model.call(samples, { labels }).loss.backward();
    assert.ok(vector.grad.abs().max().item() > 0);
    const { read } = readBy(model.eval(), samples);
    assert.equal(read.eq(vector).all(-1).any().item(), false);
  });

  test("hides at least two spans, none of them in padding", async () => {
    const model = (await open({ mask_time_prob: 1e-6, mask_time_length: 3 })).train();
    const attentionMask = eg.cat([eg.ones([3, 200]), eg.zeros([3, 200])], 1);
    eg.manualSeed(3);
    const { read } = eg.noGrad(() => readBy(model, samples, { attentionMask }));
    const hidden = read.eq(model.wav2vec2.masked_spec_embed).all(-1);
    const counts = hidden.sum(-1).arraySync();
    for (const count of counts) assert.ok(count >= 4 && count <= 6, String(counts));
    // 200 samples are 49 moments.
    assert.equal(
      hidden
        .narrow(1, 49, hidden.shape[1] - 49)
        .any()
        .item(),
      false,
    );
  });

  test("hides features of all moments", async () => {
    const model = (await open({ mask_feature_prob: 0.5, mask_feature_length: 2 })).train();
    eg.manualSeed(4);
    const { read } = eg.noGrad(() => readBy(model, samples));
    const isHidden = read.eq(0).all(1).arraySync();
    assert.ok(
      isHidden.every((row) => row.filter(Boolean).length >= 2),
      String(isHidden),
    );
  });

  test("does neither if config.json says so, and refuses recordings that are shorter than a span", async () => {
    const off = { mask_time_prob: 0.5, mask_time_length: 4, apply_spec_augment: false };
    const model = (await open(off)).train();
    const { read } = eg.noGrad(() => readBy(model, samples));
    assert.equal(read.eq(model.wav2vec2.masked_spec_embed).all(-1).any().item(), false);
    const long = (await open({ mask_time_prob: 0.5, mask_time_length: 1000 })).train();
    assert.throws(() => long.call(samples), /hides spans of 1000 positions, and there are \d+/);
  });
});
