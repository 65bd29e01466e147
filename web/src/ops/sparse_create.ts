// Sparse tensors made of their parts.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean, listOf, type Options, size as sizeRule, unchecked } from "../arguments/rule.js";
import { sparseTensor, toDtype } from "../generated/internal.js";
import { add, amax, detach, reshape } from "../generated/ops.js";
import { calledAs, fail } from "../runtime/errors/errors.js";
import { dtypeRule } from "../tensor/dtype.js";
import {
  kFactoryOptions,
  readFactoryOptions,
  withFactoryOptions,
} from "../tensor/factory_options.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { type TensorData, tensor } from "./create.js";

const kOptions = {
  /** The dtype of the values; default: the one that they have. */
  dtype: dtypeRule.orNull(),
  /** The device of the tensor; default: that of the values. */
  device: kFactoryOptions.device,
  /** Whether to record operations on the new tensor, as a leaf; default false. */
  requiresGrad: kFactoryOptions.requiresGrad,
};

const kCooOptions = {
  ...kOptions,
  /** States that every position occurs once, in row-major order, which is checked; default false. */
  isCoalesced: boolean.or(false),
};

const kSize = listOf(sizeRule).orNull();

const kCooArguments = {
  indices: unchecked<TensorData>(),
  values: unchecked<TensorData>(),
  size: kSize,
  ...kCooOptions,
};

const kCsrArguments = {
  crowIndices: unchecked<TensorData>(),
  colIndices: unchecked<TensorData>(),
  values: unchecked<TensorData>(),
  size: kSize,
  ...kOptions,
};

/** Options of `sparseCooTensor`. */
export type SparseCooOptions = Options<typeof kCooOptions>;

/** Options of `sparseCsrTensor`. */
export type SparseCsrOptions = Options<typeof kOptions>;

/**
 * Returns a sparse tensor of `size` with `values` [nnz, ...dense dimensions] at the coordinates `indices`, int64 [sparse dimensions,
 * nnz]. Values whose coordinates are equal are summed. Without `size`, it is as large as the indices need. Gradients flow to
 * `values`, unless the tensor is a leaf of its own by `requiresGrad`. Throws IndexOutOfRange for an index beyond the size, and
 * ShapeMismatch for parts that do not fit.
 */
export function sparseCooTensor(
  indices: TensorData,
  values: TensorData,
  ...rest: Arguments<[size: readonly number[] | null], SparseCooOptions>
): Tensor {
  const where = "sparseCooTensor";
  const own = readArguments(where, kCooArguments, [indices, values, ...rest]);
  return make(where, own, (device) => {
    const at = indicesOf(where, "indices", indices);
    const elements = valuesOf(values, own.dtype);
    const on = device ?? elements.device;
    const size = own.size ?? sizeOf(at, elements);
    return sparseTensor(elements.to(on), at.to(on), null, size, own.isCoalesced);
  });
}

/**
 * Returns a sparse matrix in CSR layout: row i has the `values` from `crowIndices[i]` to `crowIndices[i + 1]`, in the columns
 * `colIndices`, which ascend in every row. Without `size`, it has as many columns as the indices need. Gradients flow to `values`,
 * unless the tensor is a leaf of its own by `requiresGrad`. Indices with more dimensions are a batch of matrices with as many values
 * each, and values with more dimensions are elements that are tensors. Throws InvalidArgument for indices that do not ascend, IndexOutOfRange for a
 * column beyond the size, and ShapeMismatch for parts that do not fit.
 */
export function sparseCsrTensor(
  crowIndices: TensorData,
  colIndices: TensorData,
  values: TensorData,
  ...rest: Arguments<[size: readonly number[] | null], SparseCsrOptions>
): Tensor {
  const where = "sparseCsrTensor";
  const own = readArguments(where, kCsrArguments, [crowIndices, colIndices, values, ...rest]);
  return make(where, own, (device) => {
    const starts = indicesOf(where, "crowIndices", crowIndices);
    const columns = indicesOf(where, "colIndices", colIndices);
    const elements = valuesOf(values, own.dtype);
    const on = device ?? elements.device;
    const batch = starts.shape.slice(0, -1);
    const rows = Math.max(0, (starts.shape.at(-1) ?? 0) - 1);
    const dense = elements.shape.slice(starts.ndim);
    const size = own.size ?? [...batch, rows, largest(columns) + 1, ...dense];
    return sparseTensor(elements.to(on), columns.to(on), starts.to(on), size, true);
  });
}

function make(
  where: string,
  { device, requiresGrad }: { device: unknown; requiresGrad: boolean },
  build: (device: Tensor["device"] | undefined) => Tensor,
): Tensor {
  const options = readFactoryOptions(where, device, requiresGrad);
  return calledAs(where, () =>
    scope(() => {
      const made = build(options.device);
      return requiresGrad
        ? withFactoryOptions(detach(made), { device: undefined, requiresGrad })
        : made;
    }),
  );
}

function indicesOf(where: string, name: string, given: TensorData): Tensor {
  const indices = given instanceof Tensor ? given : tensor(given, { dtype: "int64" });
  if (indices.dtype === "int64" || indices.dtype === "int32") return indices;
  return fail("DtypeMismatch", where, `${name}: expected int64 or int32, got ${indices.dtype}.`);
}

function valuesOf(given: TensorData, dtype: Tensor["dtype"] | null): Tensor {
  const values = given instanceof Tensor ? given : tensor(given);
  return dtype === null ? values : toDtype(values, dtype);
}

// The largest index, or -1 if there is none.
function largest(indices: Tensor): number {
  return indices.numel === 0 ? -1 : Number(amax(indices).item());
}

function sizeOf(indices: Tensor, values: Tensor): number[] {
  const [dims = 0, nnz = 0] = indices.shape;
  const sparse =
    nnz === 0 || indices.ndim !== 2
      ? new Array<number>(dims).fill(0)
      : reshape(add(amax(indices, 1), 1), [dims])
          .tolist<number[]>()
          .map(Number);
  return [...sparse, ...values.shape.slice(1)];
}
