// The models in TensorFlow.js: start(layers) creates the variables, forward(variables, x, layers) the logits,
// inputs(batch) the tensors. Tokens are passed as one-hot rows, because the gradient of gather() has no kernel on this
// backend.

import * as tf from "@tensorflow/tfjs";
import { kClasses, kPixels, oneHot, transposedWeight } from "../data.mjs";

const variable = (numbers, shape) => tf.variable(tf.tensor(numbers, shape));

const dense = (layer) => ({
  weight: variable(transposedWeight(layer), [layer.inputs, layer.outputs]),
  bias: variable(layer.bias, [layer.outputs]),
});

const apply = ({ weight, bias }, x) => tf.add(tf.matMul(x, weight), bias);

const mlp = {
  start: (layers) => layers.map(dense),
  forward: (layers, x) =>
    layers.reduce((value, layer, i) => {
      const sum = apply(layer, value);
      return i + 1 < layers.length ? tf.relu(sum) : sum;
    }, x),
  inputs: ({ x, labels }) => ({
    x: tf.tensor2d(x, [labels.length, kPixels]),
    y: tf.tensor2d(oneHot(labels), [labels.length, kClasses]),
  }),
};

const cnn = {
  start: ({ convolutions, head }) => ({
    convolutions: convolutions.map(({ weight, shape, bias }) => ({
      weight: tf.variable(tf.transpose(tf.tensor(weight, shape), [2, 3, 1, 0])),
      bias: variable(bias, [shape[0]]),
    })),
    head: dense(head),
  }),
  forward({ convolutions, head }, x, { padding }) {
    const features = convolutions.reduce((value, { weight, bias }) => {
      const sum = tf.add(tf.conv2d(value, weight, 1, padding), bias);
      return tf.maxPool(tf.relu(sum), 2, 2, "valid");
    }, x);
    // Channels are last here; transpose to the order for which the weights of the head were created.
    return apply(head, tf.reshape(tf.transpose(features, [0, 3, 1, 2]), [features.shape[0], -1]));
  },
  inputs: ({ x, labels }) => ({
    x: tf.tensor4d(x, [labels.length, 28, 28, 1]),
    y: tf.tensor2d(oneHot(labels), [labels.length, kClasses]),
  }),
};

const normStart = (width) => ({
  weight: tf.variable(tf.ones([width])),
  bias: tf.variable(tf.zeros([width])),
});

function normalize({ weight, bias }, x) {
  const { mean, variance } = tf.moments(x, -1, true);
  return tf.add(tf.mul(tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5))), weight), bias);
}

function gelu(x) {
  const cubic = tf.mul(
    tf.add(x, tf.mul(tf.mul(tf.mul(x, x), x), 0.044715)),
    Math.sqrt(2 / Math.PI),
  );
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(cubic), 1));
}

/** Applies a linear layer to the last of three dimensions, as a 2-D product, because a 3-D one does not use the fast kernel. */
function applyRows(layer, x) {
  const [batch, rows, columns] = x.shape;
  const result = apply(layer, tf.reshape(x, [batch * rows, columns]));
  return tf.reshape(result, [batch, rows, -1]);
}

function attention(block, x, mask, heads) {
  const [batch, context, width] = x.shape;
  const size = width / heads;
  const all = tf.reshape(applyRows(block.qkv, x), [batch, context, 3, heads, size]);
  const [query, key, value] = tf.unstack(tf.transpose(all, [2, 0, 3, 1, 4]));
  const scores = tf.mul(tf.matMul(query, key, false, true), Math.sqrt(heads / width));
  const mixed = tf.matMul(tf.softmax(tf.add(scores, mask)), value);
  const joined = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch, context, width]);
  return applyRows(block.projection, joined);
}

function causalMask(context) {
  const above = (i) => (i % context > Math.floor(i / context) ? -1e9 : 0);
  const numbers = Float32Array.from({ length: context * context }, (_, i) => above(i));
  return tf.tensor2d(numbers, [context, context]);
}

const gpt = {
  start: ({ tokens, positions, blocks, head }) => ({
    tokens: variable(tokens.weight, tokens.shape),
    positions: variable(positions.weight, positions.shape),
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
    mask: causalMask(positions.shape[0]),
  }),
  forward({ tokens, positions, blocks, norm, head, mask }, x, { heads }) {
    const [batch, context, vocabulary] = x.shape;
    const width = tokens.shape[1];
    const rows = tf.matMul(tf.reshape(x, [batch * context, vocabulary]), tokens);
    let value = tf.add(tf.reshape(rows, [batch, context, width]), positions);
    for (const block of blocks) {
      value = tf.add(value, attention(block, normalize(block.norm1, value), mask, heads));
      const hidden = gelu(applyRows(block.up, normalize(block.norm2, value)));
      value = tf.add(value, applyRows(block.down, hidden));
    }
    return apply(head, tf.reshape(normalize(norm, value), [batch * context, width]));
  },
  inputs: ({ x, labels, vocabulary, context }) => ({
    x: tf.tensor3d(oneHot(x, vocabulary), [x.length / context, context, vocabulary]),
    y: tf.tensor2d(oneHot(labels, vocabulary), [labels.length, vocabulary]),
  }),
};

export const kModels = { mlp, cnn, gpt };
