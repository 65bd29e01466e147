// softmax() over what a sparse tensor has: elements that it lacks count as -Infinity.

import {
  coalesce,
  distinctElements,
  sparseTensor,
  toDtype,
  toSparse,
} from "../../generated/internal.js";
import {
  add,
  detach,
  div,
  exp,
  indexAdd,
  indexReduce,
  indexSelect,
  log,
  logSoftmax as logSoftmaxOf,
  mul,
  select,
  softmax as softmaxOf,
  sub,
  zeros,
  zerosLike,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";

/** softmax() of a sparse tensor along `dim`: sparse, with the same positions. Elements that it lacks count as -Infinity. */
export const softmax = /* @__PURE__ */ composite(
  "sparse.softmax",
  "input:tensor dim:int dtype:dtype?=null",
  (input, dim, dtype) => {
    const parts = partsOf("sparse.softmax", input, dim, dtype);
    if (parts.ofValues !== null) return parts.with(softmaxOf(parts.values, parts.ofValues));
    const { exps, sums, groupOf } = parts.exponentials();
    return parts.with(div(exps, indexSelect(sums, 0, groupOf)));
  },
);

/** logSoftmax() of a sparse tensor along `dim`: sparse, with the same positions. Elements that it lacks count as -Infinity. */
export const logSoftmax: typeof softmax = /* @__PURE__ */ composite(
  "sparse.logSoftmax",
  "input:tensor dim:int dtype:dtype?=null",
  (input, dim, dtype) => {
    const parts = partsOf("sparse.logSoftmax", input, dim, dtype);
    if (parts.ofValues !== null) return parts.with(logSoftmaxOf(parts.values, parts.ofValues));
    const { shifted, sums, groupOf } = parts.exponentials();
    return parts.with(sub(shifted, log(indexSelect(sums, 0, groupOf))));
  },
);

function partsOf(where: string, given: Tensor, givenDim: number, dtype: DType | null) {
  if (!given.isSparse) fail("InvalidArgument", where, "input: expected a sparse tensor.");
  const { shape, ndim } = given;
  if (!(givenDim >= -ndim && givenDim < ndim)) {
    fail("IndexOutOfRange", where, `dim: expected -${ndim} to ${ndim - 1}, got ${givenDim}.`);
  }
  const dim = givenDim < 0 ? givenDim + ndim : givenDim;
  const input = coalesce(toSparse(given));
  const { sparseDim } = input;
  const stored = input.values();
  const values = dtype === null ? stored : toDtype(stored, dtype);
  const indices = input.indices();
  return {
    values,
    /** The dimension of the values, or null for a sparse one. */
    ofValues: dim < sparseDim ? null : dim - sparseDim + 1,
    with: (result: Tensor) => sparseTensor(result, indices, null, shape, true),
    /** Exponentials relative to the largest value of each group along `dim`, and their sums. */
    exponentials: () => {
      let key = zerosLike(select(indices, 0, 0));
      for (let d = 0; d < sparseDim; d++) {
        if (d !== dim) key = add(mul(key, shape[d] as number), select(indices, 0, d));
      }
      const [firsts, groupOf] = distinctElements(key, false, true);
      const none = zeros([firsts.numel, ...values.shape.slice(1)], {
        dtype: values.dtype,
        device: values.device,
      });
      const largest = indexReduce(none, 0, groupOf, detach(values), "amax", false);
      const shifted = sub(values, indexSelect(largest, 0, groupOf));
      const exps = exp(shifted);
      return { shifted, exps, sums: indexAdd(none, 0, groupOf, exps), groupOf };
    },
  };
}
