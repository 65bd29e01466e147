// Small graphs.

import { eg } from "./engine.mjs";

/** A leaf that requires a gradient. */
export const leaf = (data, options = {}) => eg.tensor(data, { requiresGrad: true, ...options });

/** The elements of a tensor as plain numbers. */
export const values = (tensor) => Array.from(tensor.dataSync(), Number);

/** Names of the nodes below a tensor, its own first, in the order of nextFunctions. */
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
