// Methods that make sparse tensors and take them apart. sparse_create.ts makes them of their parts, eg.sparse is composites.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean, integer } from "../arguments/rule.js";
import {
  coalesce,
  sparseIndices,
  sparseMask,
  sparseValues,
  toDense,
  toSparse,
  toSparseCsr,
} from "../generated/internal.js";
import { calledAs, fail } from "../runtime/errors/errors.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";

const kToSparseArguments = {
  /** How many dimensions, from the first, get coordinates; the others stay dense. Default: all. */
  sparseDim: integer.orNull(),
};

const kToSparseCsrArguments = {
  /** How many dimensions, from the last, the values have. Default: those of a sparse tensor, else none. */
  denseDim: integer.orNull(),
};

const kValuesArguments = {
  /** Only of a coalesced tensor, with gradients; default true. */
  coalesced: boolean.or(true),
};

/** The methods of sparse tensors. */
export interface SparseMethods {
  /**
   * Returns this tensor in sparse COO layout: the elements that are not zero, with their coordinates in the first `sparseDim`
   * dimensions, or in all. Gradients flow to the elements that are kept.
   */
  toSparse(...rest: Arguments<[sparseDim: number | null], { sparseDim?: number | null }>): Tensor;

  /**
   * Returns this matrix in sparse CSR layout: its elements that are not zero, row by row. The last `denseDim` dimensions are those of the
   * values, and dimensions before those of the matrix are a batch, whose matrices must have equally many values.
   */
  toSparseCsr(...rest: Arguments<[denseDim: number | null], { denseDim?: number | null }>): Tensor;

  /** Returns this tensor with all elements in memory; itself if it is not sparse. */
  toDense(): Tensor;

  /**
   * Returns this sparse tensor with every position once, in row-major order: the values of a position that occurs several times are
   * summed. A coalesced tensor is returned unchanged.
   */
  coalesce(): Tensor;

  /** Returns the elements of this tensor at the positions of the sparse tensor `mask`, as a sparse tensor. */
  sparseMask(mask: Tensor): Tensor;

  /**
   * Returns the values of a coalesced sparse tensor, [nnz, ...dense dimensions]. They share their memory with this tensor, unless it
   * requires gradients, which then flow to it. With `coalesced: false`, returns the values of any sparse tensor as they are stored, also
   * where a position occurs several times, without history.
   */
  values(...rest: Arguments<[coalesced: boolean], { coalesced?: boolean }>): Tensor;

  /** Returns a copy of the coordinates of a sparse tensor in COO layout, int64 [sparse dimensions, nnz]. */
  indices(): Tensor;

  /** Returns a copy of where each row of a sparse matrix in CSR layout begins, int64 [rows + 1], for each matrix of a batch. */
  crowIndices(): Tensor;

  /** Returns a copy of the columns of the values of a sparse matrix in CSR layout, int64 [nnz], for each matrix of a batch. */
  colIndices(): Tensor;
}

/** The methods, to be attached to Tensor. */
export const kSparseMethods: SparseMethods & ThisType<Tensor> = {
  toSparse(...rest) {
    const { sparseDim } = readArguments("toSparse", kToSparseArguments, rest);
    return toSparse(this, sparseDim);
  },
  toSparseCsr(...rest) {
    const { denseDim } = readArguments("toSparseCsr", kToSparseCsrArguments, rest);
    return toSparseCsr(this, denseDim);
  },
  toDense() {
    return toDense(this);
  },
  coalesce() {
    return coalesce(this);
  },
  sparseMask(mask) {
    return sparseMask(this, mask);
  },
  values(...rest) {
    const { coalesced } = readArguments("values", kValuesArguments, rest);
    return calledAs("values", () => sparseValues(this, coalesced));
  },
  indices() {
    return partOf(this, "indices", "sparse_coo", 0);
  },
  crowIndices() {
    return partOf(this, "crowIndices", "sparse_csr", 0);
  },
  colIndices() {
    return partOf(this, "colIndices", "sparse_csr", 1);
  },
};

function partOf(
  tensor: Tensor,
  name: string,
  layout: "sparse_coo" | "sparse_csr",
  part: number,
): Tensor {
  if (tensor.layout !== layout) {
    const reason = `expected a tensor in layout ${layout}, got one in layout ${tensor.layout}.`;
    fail("InvalidArgument", name, reason);
  }
  return scope(() => sparseIndices(tensor)[part] as Tensor);
}
