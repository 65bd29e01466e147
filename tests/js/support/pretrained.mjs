// Models with random weights as folders of files, and as the arrays that the plain models compute with.

import { eg } from "./engine.mjs";

/** Draws weights for shapes by name: { tensors, arrays }. Norms are near 1. */
export function drawWeights(shapes, seed = 1, spread = 0.4) {
  const generator = new eg.Generator(seed);
  const tensors = {};
  const arrays = {};
  for (const [name, shape] of Object.entries(shapes)) {
    const values = eg.randn(shape, { generator }).mul(spread);
    const isNorm = /norm|ln_|LayerNorm/i.test(name) && name.endsWith("weight");
    tensors[name] = isNorm ? values.add(1) : values;
    arrays[name] = tensors[name].arraySync();
  }
  return { tensors, arrays };
}

/** Returns the files of a model. */
export function filesOf(config, tensors, others = {}) {
  return {
    "config.json": JSON.stringify(config),
    "model.safetensors": eg.io.saveSafetensors(tensors, { metadata: { format: "pt" } }),
    ...others,
  };
}

/** The largest difference of a tensor from an array, relative to the largest number of the array. */
export function distance(tensor, wanted) {
  const own = tensor.detach().flatten().arraySync();
  const numbers = wanted.flat(Number.POSITIVE_INFINITY);
  if (own.length !== numbers.length) throw new Error(`${own.length} numbers for ${numbers.length}`);
  const top = Math.max(...numbers.map(Math.abs));
  return Math.max(...own.map((one, i) => Math.abs(one - numbers[i]))) / top;
}

/** Token numbers that do not repeat in a simple way. */
export const idsOf = (count, words, seed = 0) =>
  Array.from({ length: count }, (_, i) => (7 * i + 3 * i * i + seed) % words);
