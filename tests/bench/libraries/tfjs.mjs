// TensorFlow.js on its WebAssembly or its WebGPU backend, loaded as its packages are in Node.js (where the core alone has
// no gradients).

import * as tf from "@tensorflow/tfjs";
import { version_wasm } from "@tensorflow/tfjs-backend-wasm";
import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";
import { describeAdapter, offerWebGpu } from "../gpu/adapter.mjs";
import { kModels } from "../models/tfjs.mjs";
import { start, trainer } from "../trainers/tfjs.mjs";

export async function load({ device = "wasm" } = {}) {
  tf.env().set("IS_NODE", true); // suppresses the banner that recommends tfjs-node
  const detail = device === "webgpu" ? await offerBackend() : `${version_wasm}, 1 thread`;
  await tf.setBackend(device);
  await tf.ready();
  return { detail, product, chain, trainer, plainStep, deviceProduct };
}

// The backend registers itself when it is loaded, if WebGPU is available.
async function offerBackend() {
  preferSoftwareAdapter();
  await offerWebGpu();
  await import("@tensorflow/tfjs-backend-webgpu");
  return describeAdapter();
}

function product(layout, { m, k, n }, a, b) {
  const x = tf.tensor2d(a, layout[0] === "T" ? [k, m] : [m, k]);
  const y = tf.tensor2d(b, layout[1] === "T" ? [n, k] : [k, n]);
  return () => tf.matMul(x, y, layout[0] === "T", layout[1] === "T").dispose();
}

/** Repeatedly multiplies two square matrices; `read` returns the last product. */
function deviceProduct(n, a, b) {
  const [x, y] = [tf.tensor2d(a, [n, n]), tf.tensor2d(b, [n, n])];
  let result = null;
  return {
    multiply() {
      result?.dispose();
      result = tf.matMul(x, y);
    },
    read: () => result.data(),
  };
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

/** A step as a new user would write it: batches become tensors that are never disposed of. */
function plainStep(task) {
  const step = start(task);
  return {
    step: (batch) => step(kModels[task.model].inputs(batch)),
    read: async (loss) => (await loss.data())[0],
    memory: () => ({ tensors: tf.memory().numTensors, bytes: tf.memory().numBytes }),
  };
}
