// jax-js on its WebAssembly or its WebGPU backend. Steps are compiled with jit, as its documentation recommends. A chain is measured
// both ways, because the costs of an eager and of a traced op are very different.

import { defaultDevice, grad, init, jit, numpy as np } from "@jax-js/jax";
import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";
import { describeAdapter, offerWebGpu } from "../gpu/adapter.mjs";
import { kModels } from "../models/jax.mjs";
import { compile, trainer } from "../trainers/jax.mjs";

export async function load({ device = "wasm" } = {}) {
  if (device === "webgpu") {
    preferSoftwareAdapter();
    await offerWebGpu();
  }
  await init(device);
  defaultDevice(device);
  const detail = device === "webgpu" ? await describeAdapter() : "wasm, 1 thread";
  return { detail, product, chain, compiledChain, trainer, plainStep, deviceProduct };
}

function product(layout, { m, k, n }, a, b) {
  const x = np.array(a).reshape(layout[0] === "T" ? [k, m] : [m, k]);
  const y = np.array(b).reshape(layout[1] === "T" ? [n, k] : [k, n]);
  const multiply = jit((left, right) =>
    np.matmul(
      layout[0] === "T" ? np.transpose(left) : left,
      layout[1] === "T" ? np.transpose(right) : right,
    ),
  );
  return async () => {
    const result = multiply(x.ref, y.ref);
    await result.blockUntilReady(); // computation is lazy until here
    result.dispose();
  };
}

/** Repeatedly multiplies two square matrices; `read` returns the last product, which forces the computation of all of them. */
function deviceProduct(n, a, b) {
  const [x, y] = [a, b].map((numbers) => np.array(numbers).reshape([n, n]));
  const multiply = jit(np.matmul);
  let results = [];
  return {
    multiply() {
      results.push(multiply(x.ref, y.ref));
    },
    async read() {
      const last = results.at(-1).ref;
      for (const result of results) await result.blockUntilReady();
      for (const result of results) result.dispose();
      results = [];
      return last.data();
    },
  };
}

function chainOf(length, onRecorded = () => {}) {
  const factor = () => np.array([1.0001, 0.9999, 1.0001, 0.9999]);
  return (x) => {
    const constant = factor();
    let y = x;
    for (let i = 0; i < length; ++i) y = y.mul(constant.ref);
    constant.dispose();
    onRecorded();
    return np.sum(y);
  };
}

async function chain(length) {
  const times = { start: performance.now() };
  const f = chainOf(length, () => {
    times.recorded = performance.now();
  });
  await grad(f)(np.array([1, 2, 3, 4])).data();
  times.end = performance.now();
  return times;
}

/** The chain of operations compiled with jit. */
async function compiledChain(length) {
  const gradient = jit(grad(chainOf(length)));
  const run = () => gradient(np.array([1, 2, 3, 4])).data();
  await run();
  return run;
}

/** A step as the library's ownership rules require: every argument is consumed, and the loss is disposed of. */
function plainStep(task) {
  let { parameters, state, step } = compile(task);
  let loss = null;
  return {
    step(batch) {
      const { x, y } = kModels[task.model].inputs(batch);
      loss?.dispose();
      [parameters, state, loss] = step(parameters, state, x, y);
      return loss;
    },
    read: async (value) => (await value.ref.data())[0],
    memory: () => ({}),
  };
}
