// TensorFlow.js on a graphics card.

import * as tf from "@tensorflow/tfjs";
import "@tensorflow/tfjs-backend-webgpu";
import { trainer } from "../trainers/tfjs.mjs";

export async function load() {
  // The backend compares the browser's user agent otherwise.
  tf.env().set("IS_NODE", typeof process !== "undefined");
  await tf.setBackend("webgpu");
  await tf.ready();
  return { repeat, product, convolution, sum, training: trainer };
}

async function repeat(op, times) {
  let last = null;
  for (let i = 0; i < times; ++i) {
    last?.dispose();
    last = op();
  }
  const first = tf.tidy(() => tf.slice(tf.reshape(last, [-1]), [0], [1]));
  last.dispose();
  await first.data();
  first.dispose();
}

function opOf(run, ...operands) {
  return { op: () => run(...operands), end: () => tf.dispose(operands) };
}

const random = (...shape) => tf.randomUniform(shape, -0.5, 0.5);

function product({ m, n, k, batch, isATransposed = false, isBTransposed = false }) {
  const leading = batch ? [batch] : [];
  const matrix = (rows, columns, isTransposed) =>
    random(...leading, ...(isTransposed ? [columns, rows] : [rows, columns]));
  const run = (a, b) => tf.matMul(a, b, isATransposed, isBTransposed);
  return opOf(run, matrix(m, k, isATransposed), matrix(k, n, isBTransposed));
}

// Channels are last.
function convolution({ batch, inputs, outputs, size, kernel }) {
  return opOf(
    (x, weight) => tf.conv2d(x, weight, 1, (kernel - 1) / 2),
    ...[random(batch, size, size, inputs), random(kernel, kernel, inputs, outputs)],
  );
}

const sum = ({ count }) => opOf(tf.add, random(count), random(count));
