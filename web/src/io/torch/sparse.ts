// Sparse tensors of files as their parts, which are dense tensors.

import { sparseCooTensor, sparseCsrTensor } from "../../ops/sparse_create.js";
import { EdgeGradError } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { reject } from "../broken_file.js";
import type { SparsePlan } from "./python_values.js";

/** Returns the sparse tensor of these parts, which come from a file; must be called inside readingLater(). */
export function sparseTensorOf(
  { layout, size, isCoalesced }: SparsePlan,
  parts: readonly Tensor[],
): Tensor {
  try {
    const [first, second, third] = parts as [Tensor, Tensor, Tensor];
    return layout === "sparse_coo"
      ? sparseCooTensor(first, second, size, { isCoalesced })
      : sparseCsrTensor(first, second, third, size);
  } catch (error) {
    if (!EdgeGradError.isOne(error)) throw error;
    return reject(`it contains a sparse tensor whose parts do not fit: ${error.message}`);
  }
}

/** Returns new tensors with the parts of a sparse tensor, in the order of files: the values come last. */
export function partsOf(tensor: Tensor): Tensor[] {
  const indices =
    tensor.layout === "sparse_coo"
      ? [tensor.indices()]
      : [tensor.crowIndices(), tensor.colIndices()];
  return [...indices, tensor.values({ coalesced: false })];
}
