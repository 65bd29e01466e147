// jax-js on its WebAssembly or its WebGPU backend. Steps are compiled with jit, as its documentation recommends. A chain is measured
// both ways, because the costs of an eager and of a traced op are very different.

import { defaultDevice, grad, init, jit, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { describeAdapter, offerWebGpu } from "../gpu/adapter.mjs";
import { kModels } from "../models/jax.mjs";

export async function load({ device = "wasm" } = {}) {
  if (device === "webgpu") await offerWebGpu();
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

function crossEntropy(logits, y) {
  return np.mean(np.sum(nn.logSoftmax(logits).mul(y), -1)).neg();
}

const kOptimizers = {
  sgd: {
    start: () => ({}),
    update: (rate) => (parameters, gradients, state) => [
      tree.map((p, g) => p.sub(g.mul(rate)), parameters, gradients),
      state,
    ],
  },
  adam: adam(0),
  adamw: adam(0.01),
};

function adam(decay) {
  return {
    start: (parameters) => ({
      first: tree.map((p) => np.zeros(p.shape), parameters),
      second: tree.map((p) => np.zeros(p.shape), parameters),
      power1: np.array(1),
      power2: np.array(1),
    }),
    update: (rate) => (parameters, gradients, state) => {
      const first = tree.map(
        (m, g) => m.mul(0.9).add(g.mul(0.1)),
        state.first,
        tree.ref(gradients),
      );
      const second = tree.map(
        (v, g) => v.mul(0.999).add(g.ref.mul(g).mul(0.001)),
        state.second,
        gradients,
      );
      const power1 = state.power1.mul(0.9);
      const power2 = state.power2.mul(0.999);
      const scale1 = np.array(1).sub(power1.ref);
      const scale2 = np.array(1).sub(power2.ref);
      const updated = tree.map(
        (p, m, v) => {
          const size = np.sqrt(v.div(scale2.ref)).add(1e-8);
          const kept = decay ? p.mul(1 - rate * decay) : p;
          return kept.sub(m.div(scale1.ref).div(size).mul(rate));
        },
        parameters,
        tree.ref(first),
        tree.ref(second),
      );
      scale1.dispose();
      scale2.dispose();
      return [updated, { first, second, power1, power2 }];
    },
  };
}

/** Returns a compiled step (parameters, state, x, y) -> [parameters, state, loss], and its first two arguments. */
function compile({ model: name, layers, optimizer: { name: rule, rate } }) {
  const { start, forward } = kModels[name];
  const parameters = start(layers);
  const state = kOptimizers[rule].start(parameters);
  const update = kOptimizers[rule].update(rate);
  const lossOf = (current, x, y) => crossEntropy(forward(current, x, layers), y);
  const step = jit((current, optimizer, x, y) => {
    const [loss, gradients] = valueAndGrad(lossOf)(tree.ref(current), x, y);
    const [next, nextState] = update(current, gradients, optimizer);
    return [next, nextState, loss];
  });
  return { parameters, state, step };
}

function trainer(task, batches) {
  let { parameters, state, step } = compile(task);
  const arrays = batches.map(kModels[task.model].inputs);
  let loss = null;
  return {
    step(i) {
      const { x, y } = arrays[i % arrays.length];
      loss?.dispose();
      [parameters, state, loss] = step(parameters, state, x.ref, y.ref);
    },
    loss: async () => (await loss.ref.data())[0],
  };
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
