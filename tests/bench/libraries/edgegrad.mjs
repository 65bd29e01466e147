// This package, used only through its public API.

import * as eg from "edgegrad";
import { startTrainer } from "../trainers/edgegrad.mjs";

export async function load({ threads = 1 } = {}) {
  await eg.init({ threads, webgpu: "off" });
  const { variant, threads: started } = eg.runtime();
  const detail = `${variant}, ${started} thread${started === 1 ? "" : "s"}`;
  const training = (task, batches) => startTrainer("cpu", task, batches);
  return { detail, variant, product, chain, training };
}

function product(layout, { m, k, n }, a, b) {
  const matrix = (numbers, rows, columns, isTransposed) =>
    isTransposed
      ? eg.tensor(numbers).view([columns, rows]).t()
      : eg.tensor(numbers).view([rows, columns]);
  const x = matrix(a, m, k, layout[0] === "T");
  const y = matrix(b, k, n, layout[1] === "T");
  return () => eg.matmul(x, y).dispose();
}

async function chain(length) {
  const x = eg.tensor([1, 2, 3, 4], { requiresGrad: true });
  const factor = eg.tensor([1.0001, 0.9999, 1.0001, 0.9999]);
  const ones = eg.ones([4]);
  const times = { start: performance.now() };
  let y = x;
  for (let i = 0; i < length; ++i) y = y.mul(factor);
  times.recorded = performance.now();
  y.backward(ones);
  times.end = performance.now();
  return times;
}
