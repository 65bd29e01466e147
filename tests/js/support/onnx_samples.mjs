// The samples of ops as functions of tensors, which save() takes.

import { eg } from "./engine.mjs";
import { functionOf } from "./op_samples.mjs";

// Ops under their internal names, as programs call them.
const kInternal = {
  slice: (x, dim, start, end, step) =>
    x.at(...new Array(dim < 0 ? dim + x.ndim : dim).fill(eg.slice()), eg.slice(start, end, step)),
  index: (x, indices, dims) => {
    const at = new Array(x.ndim).fill(eg.slice());
    for (const [i, dim] of dims.entries()) at[dim] = indices[i];
    return x.at(...at.slice(0, Math.max(...dims) + 1));
  },
  einsum: (equation, operands) => eg.einsum(String.fromCharCode(...equation), ...operands),
};

/** Ops that the engine's optimizers and layers call, which programs cannot. */
export const kHidden =
  /Step_$|^(lstm|gru|rnn)Steps$|^distinctElements$|^toDtype$|^standardGamma$|^sampleDirichlet$/;

const isTensor = (value) => value instanceof eg.Tensor;

/** Returns a sample as a function of its tensors, and these; null for a sample that the dtype does not have. */
export function programOf({ js }, sample, dtype = "float32") {
  const args = sample.make(dtype);
  if (args === null) return null;
  const call = kInternal[js] ?? functionOf(js);
  const inputs = args
    .flat()
    .filter(isTensor)
    .map((one) => one.detach());
  const program = (...given) => {
    let next = 0;
    const filled = (value) => {
      if (Array.isArray(value)) return value.map(filled);
      return isTensor(value) ? given[next++] : value;
    };
    const [first, ...rest] = args.map(filled);
    return call(js.endsWith("_") ? first.clone() : first, ...rest);
  };
  return { program, inputs };
}
