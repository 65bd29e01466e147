// Sparse inputs of gradcheck(). The gradient of a sparse tensor has its positions, so its stored values are the variables, and elements that
// it lacks are none.

import { coalesce, sparseIndices, sparseTensor, toDense } from "../../generated/internal.js";
import { clone, detach } from "../../generated/ops.js";
import { Tensor } from "../../tensor/tensor.js";
import { requiresGrad } from "./matrices.js";

/** Whether a value is a sparse tensor that requires a gradient. */
export function isTrackedSparse(value: unknown): value is Tensor {
  return requiresGrad(value) && value.isSparse;
}

/** Returns `fn` as a function of the values of its sparse inputs, with dense results, and these values. */
export function ofValues(
  fn: (...inputs: Tensor[]) => unknown,
  inputs: readonly Tensor[],
): { fn: (...inputs: Tensor[]) => unknown; inputs: Tensor[] } {
  const fixed = inputs.map((input) => (isTrackedSparse(input) ? partsOf(input) : null));
  return {
    fn: (...given) => {
      const made = given.map((value, i) => fixed[i]?.with(value) ?? value);
      const result = fn(...made);
      return Array.isArray(result) ? result.map(dense) : dense(result);
    },
    inputs: inputs.map((input, i) => fixed[i]?.values ?? input),
  };
}

function partsOf(input: Tensor) {
  const own = coalesce(detach(input));
  const { shape, layout } = own;
  const parts = sparseIndices(own) as Tensor[];
  const [columns, starts = null] = layout === "sparse_csr" ? parts.reverse() : parts;
  return {
    values: clone(own.values()).requiresGrad_(),
    with: (values: Tensor) => sparseTensor(values, columns as Tensor, starts, shape, true),
  };
}

function dense(result: unknown): unknown {
  return result instanceof Tensor && result.isSparse ? toDense(result) : result;
}
