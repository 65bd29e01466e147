// Indices of elements.

import { toDtype } from "../generated/internal.js";
import {
  all,
  floorDivide,
  ge,
  logicalAnd,
  lt,
  nonzero,
  ones,
  remainder,
  t,
  tril,
  triu,
} from "../generated/ops.js";
import { kMaxDims } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import { type DType, isComplex, isFloat } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite, compositeFactory } from "./composite.js";

/** The indices of the elements that are not zero, one row per element. */
export const argwhere = /* @__PURE__ */ composite("argwhere", "input:tensor", (input) =>
  nonzero(input),
);

const kTriangleLine = "row:int col:int offset:int=0 dtype:dtype?=null";

/** Rows and columns of the elements of a matrix on and below a diagonal. */
export const trilIndices = /* @__PURE__ */ compositeFactory(
  "trilIndices",
  kTriangleLine,
  (row, col, offset, dtype) =>
    positionsIn(tril(ones([row, col], { dtype: "bool" }), offset), dtype),
);

/** Rows and columns of the elements of a matrix on and above a diagonal. */
export const triuIndices: typeof trilIndices = /* @__PURE__ */ compositeFactory(
  "triuIndices",
  kTriangleLine,
  (row, col, offset, dtype) =>
    positionsIn(triu(ones([row, col], { dtype: "bool" }), offset), dtype),
);

function positionsIn(triangle: Tensor, dtype: DType | null): Tensor {
  return toDtype(t(nonzero(triangle)).contiguous(), dtype ?? "int64");
}

/** Converts indices into the flattened `shape` to indices along each axis: a list with one tensor per axis. */
export const unravelIndex = /* @__PURE__ */ composite(
  "unravelIndex",
  "indices:tensor shape:ints",
  (indices, shape): Tensor[] => {
    if (isFloat(indices.dtype) || indices.dtype === "bool" || isComplex(indices.dtype)) {
      fail("DtypeMismatch", "unravelIndex", `indices: expected integers, got ${indices.dtype}.`);
    }
    const sizes = [shape].flat();
    if (sizes.length > kMaxDims) {
      const reason = `shape: expected at most ${kMaxDims} sizes, got ${sizes.length}.`;
      fail("InvalidArgument", "unravelIndex", reason);
    }
    const strides = sizes.map((_, d) =>
      sizes.slice(d + 1).reduce((product, size) => product * size, 1),
    );
    const count = sizes.reduce((product, size) => product * size, 1);
    const positions = toDtype(indices, "int64");
    if (!all(logicalAnd(ge(positions, -count), lt(positions, count))).item<boolean>()) {
      fail(
        "IndexOutOfRange",
        "unravelIndex",
        `indices: expected indices of the ${count} elements of shape [${sizes}].`,
      );
    }
    return sizes.map((size, d) => remainder(floorDivide(positions, strides[d] ?? 1), size));
  },
);
