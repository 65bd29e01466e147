// TensorFlow.js on its WebAssembly backend, loaded as its packages are in Node.js (where the core alone has no gradients).

import * as tf from "@tensorflow/tfjs";
import { version_wasm } from "@tensorflow/tfjs-backend-wasm";
import { trainer } from "../trainers/tfjs.mjs";

export async function load() {
  tf.env().set("IS_NODE", true); // suppresses the banner that recommends tfjs-node
  await tf.setBackend("wasm");
  await tf.ready();
  return { detail: `${version_wasm}, 1 thread`, product, chain, training: trainer };
}

function product(layout, { m, k, n }, a, b) {
  const x = tf.tensor2d(a, layout[0] === "T" ? [k, m] : [m, k]);
  const y = tf.tensor2d(b, layout[1] === "T" ? [n, k] : [k, n]);
  return () => tf.matMul(x, y, layout[0] === "T", layout[1] === "T").dispose();
}

/** Times a chain of products and its gradient. f runs inside tf.grad, so backward begins where f ends. */
async function chain(length) {
  const x = tf.tensor1d([1, 2, 3, 4]);
  const factor = tf.tensor1d([1.0001, 0.9999, 1.0001, 0.9999]);
  const times = { start: performance.now() };
  const f = (value) => {
    let y = value;
    for (let i = 0; i < length; ++i) y = tf.mul(y, factor);
    times.recorded = performance.now();
    return y;
  };
  const gradient = tf.grad(f)(x);
  gradient.dataSync();
  times.end = performance.now();
  tf.dispose([x, factor, gradient]);
  return times;
}
