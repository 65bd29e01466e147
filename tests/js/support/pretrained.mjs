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

const mapped = (one, other, fn) =>
  Array.isArray(one) ? one.map((part, i) => mapped(part, other[i], fn)) : fn(one, other);

/**
 * Compares gradients with the formulas: how a loss changes if all weights move in one direction, by the gradients of the parameters and by differences of
 * `lossOf(arrays)`. Returns the two numbers' distance relative to the larger one.
 */
export function slopeDistance(model, shapes, arrays, lossOf) {
  const directions = drawWeights(shapes, 77, 1).arrays;
  const parameters = new Map(model.namedParameters());
  let own = 0;
  for (const [name, direction] of Object.entries(directions)) {
    const grad = parameters.get(model.fileNames.tensors[name]).grad;
    if (grad) own += eg.tensor(direction).mul(grad).sum().item();
  }
  const step = 1e-5;
  const at = (size) =>
    lossOf(
      Object.fromEntries(
        Object.entries(arrays).map(([name, one]) => [
          name,
          mapped(one, directions[name], (a, b) => a + size * b),
        ]),
      ),
    );
  const wanted = (at(step) - at(-step)) / (2 * step);
  return Math.abs(own - wanted) / Math.max(Math.abs(own), Math.abs(wanted));
}

/** The mean cross entropy of rows of scores; -100 does not count. */
export function crossEntropyOf(rows, labels) {
  const losses = rows.flatMap((row, i) => {
    if (labels[i] === -100) return [];
    return [Math.log(row.reduce((sum, one) => sum + Math.exp(one), 0)) - row[labels[i]]];
  });
  return losses.reduce((sum, one) => sum + one, 0) / losses.length;
}
