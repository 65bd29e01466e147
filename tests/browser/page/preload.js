// Preloads the engine, waits until its files have arrived, and only then starts it and trains one step.

import * as eg from "edgegrad";
import { until } from "./until.js";

const loaded = () =>
  performance
    .getEntriesByType("resource")
    .map(({ name }) => new URL(name).pathname.split("/").at(-1))
    .filter((name) => /^edgegrad-[\w.]+\.(mjs|wasm)$/.test(name));

async function finish() {
  eg.preload();
  eg.preload();
  await until("script and core of the engine", () => loaded().length >= 2);
  const before = loaded();
  await eg.init({ threads: 2 });
  const { variant } = eg.runtime();
  const x = eg.ones([2, 3], { requiresGrad: true });
  x.square().sum().backward();
  return { before, variant, gradient: x.grad.sum().item() };
}

finish().then(
  (result) => {
    document.body.textContent = JSON.stringify(result);
  },
  (error) => {
    document.body.textContent = JSON.stringify({ error: `${error.code}: ${error.message}` });
  },
);
