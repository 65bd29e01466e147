// The models in jax-js: start(layers) creates the parameters, forward(parameters, x, layers) the logits, inputs(batch) the
// arrays. Every call consumes its arguments, hence the many .ref. Tokens are passed as one-hot rows, because take() fails in
// jit.

import { lax, nn, numpy as np } from "@jax-js/jax";
import { kClasses, kPixels, oneHot, transposedWeight } from "../data.mjs";

const matrix = (numbers, rows, columns) => np.array(numbers).reshape([rows, columns]);

const dense = (layer) => ({
  weight: matrix(transposedWeight(layer), layer.inputs, layer.outputs),
  bias: np.array(layer.bias),
});

const apply = ({ weight, bias }, x) => np.matmul(x, weight).add(bias);

const mlp = {
  start: (layers) => layers.map(dense),
  forward: (parameters, x) =>
    parameters.reduce((value, layer, i) => {
      const sum = apply(layer, value);
      return i + 1 < parameters.length ? nn.relu(sum) : sum;
    }, x),
  inputs: ({ x, labels }) => ({
    x: matrix(x, labels.length, kPixels),
    y: matrix(oneHot(labels), labels.length, kClasses),
  }),
};

const cnn = {
  start: ({ convolutions, head }) => ({
    convolutions: convolutions.map(({ weight, shape, bias }) => ({
      weight: np.array(weight).reshape(shape),
      bias: np.array(bias).reshape([shape[0], 1, 1]),
    })),
    head: dense(head),
  }),
  forward({ convolutions, head }, x, { padding }) {
    const sides = [padding, padding];
    const features = convolutions.reduce((value, { weight, bias }) => {
      const sum = lax.conv(value, weight, [1, 1], [sides, sides]).add(bias);
      return lax.reduceWindow(nn.relu(sum), np.max, [2, 2], [2, 2]);
    }, x);
    const [count, ...rest] = features.shape;
    return apply(head, features.reshape([count, rest.reduce((a, b) => a * b)]));
  },
  inputs: ({ x, labels }) => ({
    x: np.array(x).reshape([labels.length, 1, 28, 28]),
    y: matrix(oneHot(labels), labels.length, kClasses),
  }),
};

const normStart = (width) => ({ weight: np.ones([width]), bias: np.zeros([width]) });
const normalize = ({ weight, bias }, x) => nn.standardize(x).mul(weight).add(bias);

/** Splits [batch, context, 3 width] into queries, keys and values [batch, heads, context, width / heads]. */
function splitHeads(x, [batch, context, width], heads) {
  const size = width / heads;
  const all = x.reshape([batch, context, 3, heads, size]).transpose([2, 0, 3, 1, 4]);
  return np.split(all, 3).map((part) => part.reshape([batch, heads, context, size]));
}

function attention(layers, x, mask, heads) {
  const { shape } = x;
  const width = shape[2];
  const [query, key, value] = splitHeads(apply(layers.qkv, x), shape, heads);
  const scores = np.matmul(query, key.transpose([0, 1, 3, 2])).mul(Math.sqrt(heads / width));
  const mixed = np.matmul(nn.softmax(scores.add(mask), -1), value);
  const joined = mixed.transpose([0, 2, 1, 3]).reshape(shape);
  return apply(layers.projection, joined);
}

const gpt = {
  start: ({ tokens, positions, blocks, head }) => ({
    tokens: matrix(tokens.weight, ...tokens.shape),
    positions: matrix(positions.weight, ...positions.shape),
    blocks: blocks.map(({ qkv, projection, up, down }) => ({
      norm1: normStart(qkv.inputs),
      qkv: dense(qkv),
      projection: dense(projection),
      norm2: normStart(up.inputs),
      up: dense(up),
      down: dense(down),
    })),
    norm: normStart(head.inputs),
    head: dense(head),
  }),
  forward({ tokens, positions, blocks, norm, head }, x, { heads }) {
    const [batch, context, vocabulary] = x.shape;
    const mask = np.triu(np.full([context, context], -1e9), 1);
    let value = np.matmul(x, tokens).add(positions);
    for (const block of blocks) {
      value = value.ref.add(attention(block, normalize(block.norm1, value), mask.ref, heads));
      const hidden = nn.gelu(apply(block.up, normalize(block.norm2, value.ref)));
      value = value.add(apply(block.down, hidden));
    }
    mask.dispose();
    return apply(head, normalize(norm, value)).reshape([batch * context, vocabulary]);
  },
  inputs: ({ x, labels, vocabulary, context }) => ({
    x: np.array(oneHot(x, vocabulary)).reshape([x.length / context, context, vocabulary]),
    y: matrix(oneHot(labels, vocabulary), labels.length, vocabulary),
  }),
};

export const kModels = { mlp, cnn, gpt };
