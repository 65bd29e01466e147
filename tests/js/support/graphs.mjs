// Small graphs.

import assert from "node:assert/strict";
import { eg } from "./engine.mjs";

/** Returns a leaf that requires a gradient. */
export const leaf = (data, options = {}) => eg.tensor(data, { requiresGrad: true, ...options });

/** Returns the elements of a tensor as numbers. */
export const values = (tensor) => Array.from(tensor.dataSync(), Number);

/** Returns the names of the nodes of a tensor's graph, the tensor's own first, in the order of nextFunctions. */
export function nodeNames(tensor) {
  const names = [];
  const pending = [tensor.gradFn];
  while (pending.length > 0) {
    const node = pending.shift();
    if (node === null) continue;
    names.push(node.name);
    pending.push(...node.nextFunctions.map(([next]) => next));
  }
  return names;
}

/** Asserts that everything that repeated calls of `step` create is freed. */
export function assertFlat(step, { times = 50 } = {}) {
  const run = (i) => eg.scope(() => void step(i));
  run(0);
  run(1);
  const { tensors, storages, graphNodes, jsHandles } = eg.memory();
  for (let i = 0; i < times; i++) run(i);
  const after = eg.memory();
  assert.deepEqual(
    [after.tensors, after.storages, after.graphNodes, after.jsHandles],
    [tensors, storages, graphNodes, jsHandles],
    "tensors, storages, graph nodes, handles",
  );
}
