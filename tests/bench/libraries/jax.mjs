// jax-js on its WebAssembly backend. Steps are compiled with jit, as its documentation recommends.

import { defaultDevice, grad, init, jit, numpy as np } from "@jax-js/jax";
import { trainer } from "../trainers/jax.mjs";

export async function load() {
  await init("wasm");
  defaultDevice("wasm");
  return { detail: "wasm, 1 thread", product, chain, training: trainer };
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

async function chain(length) {
  const factor = np.array([1.0001, 0.9999, 1.0001, 0.9999]);
  const times = { start: performance.now() };
  const f = (x) => {
    let y = x;
    for (let i = 0; i < length; ++i) y = y.mul(factor.ref);
    times.recorded = performance.now();
    return np.sum(y);
  };
  await grad(f)(np.array([1, 2, 3, 4])).data();
  times.end = performance.now();
  factor.dispose();
  return times;
}
