// Copies of a tensor in which a view is replaced by other values, and matrices made from diagonals.

import { interpreter } from "../dispatch/interpreter.js";
import { slice, toDtype } from "../generated/internal.js";
import {
  add,
  arange,
  asStrided,
  clone,
  copy_,
  diag,
  diagonal,
  fill_,
  flatten,
  indexAdd,
  indexCopy,
  lt,
  onesLike,
  reshape,
  select,
  where,
  zeros,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, sizeOf } from "./shapes.js";

/** A copy of `input` whose diagonal(offset, dim1, dim2) is `src`. */
export const diagonalScatter = /* @__PURE__ */ composite(
  "diagonalScatter",
  "input:tensor src:tensor offset:int=0 dim1:int=0 dim2:int=1",
  (input, src, offset, dim1, dim2) =>
    written(input, src, (copy) => diagonal(copy, offset, dim1, dim2)),
);

/** A copy of `input` with `value`, a number or a tensor without dimensions, as every element. */
export const fill = /* @__PURE__ */ composite(
  "fill",
  "input:tensor value:operand",
  (input, value) => {
    if (!(value instanceof Tensor)) return fill_(clone(input), value);
    if (value.ndim > 0) {
      const reason = `value: expected a number or a tensor without dimensions, got the shape [${value.shape}]`;
      fail("ShapeMismatch", "fill", `${reason}.`);
    }
    const everywhere = onesLike(input, { dtype: "bool" });
    return where(everywhere, toDtype(value, input.dtype), input);
  },
);

/**
 * A copy of `input` whose elements at the positions `index`, counted in row-major order and from the end if negative, are those of `source`, or with `accumulate` the sum
 * of both. Both have as many elements.
 */
export const put = /* @__PURE__ */ composite(
  "put",
  "input:tensor index:tensor source:tensor accumulate:bool=false",
  (input, index, source, accumulate) => {
    if (index.numel !== source.numel) {
      const reason = `source: expected as many elements as index has, ${index.numel}`;
      fail("ShapeMismatch", "put", `${reason}, got ${source.numel}.`);
    }
    const write = accumulate ? indexAdd : indexCopy;
    const given = flatten(index);
    const places = where(lt(given, 0), add(given, input.numel), given);
    return reshape(write(flatten(input), 0, places, flatten(source)), input.shape);
  },
);

/** A copy of `input` whose select(dim, index) is `src`. */
export const selectScatter = /* @__PURE__ */ composite(
  "selectScatter",
  "input:tensor src:tensor dim:int index:int",
  (input, src, dim, index) => written(input, src, (copy) => select(copy, dim, index)),
);

/** A copy of `input` in which every `step`-th slice along `dim`, from `start` up to but not including `end`, is taken from `src`. */
export const sliceScatter = /* @__PURE__ */ composite(
  "sliceScatter",
  "input:tensor src:tensor dim:int=0 start:int?=null end:int?=null step:int=1",
  (input, src, dim, start, end, step) =>
    written(input, src, (copy) => slice(copy, dim, start, end, step)),
);

/** A copy of `input` whose asStrided(size, stride, storageOffset) is `src`. */
export const asStridedScatter = /* @__PURE__ */ composite(
  "asStridedScatter",
  "input:tensor src:tensor size:ints stride:ints storageOffset:int=0",
  (input, src, size, stride, storageOffset) =>
    overwritten(input, src, (copy) => asStrided(copy, size, stride, storageOffset)),
);

function written(input: Tensor, src: Tensor, viewOf: (copy: Tensor) => Tensor): Tensor {
  // Inside eg.func.vmap(), the copy of a tensor that all samples share cannot be written with values of one sample.
  return interpreter === null ? overwritten(input, src, viewOf) : placed(input, src, viewOf);
}

function overwritten(input: Tensor, src: Tensor, viewOf: (copy: Tensor) => Tensor): Tensor {
  const copy = clone(input);
  const view = viewOf(copy);
  checkSource(view, src);
  copy_(view, src);
  return copy;
}

// Like overwritten(), but through the indices of the view's elements in the flattened tensor.
function placed(input: Tensor, src: Tensor, viewOf: (copy: Tensor) => Tensor): Tensor {
  const { shape, dtype, device, numel } = input;
  const indices = viewOf(reshape(arange(numel, { dtype: "int64", device }), shape));
  checkSource(indices, src);
  const values = toDtype(reshape(src, [-1]), dtype);
  return reshape(indexCopy(reshape(input, [-1]), 0, reshape(indices, [-1]), values), shape);
}

function checkSource(view: Tensor, src: Tensor): void {
  if (view.ndim !== src.ndim || view.shape.some((size, d) => size !== src.shape[d])) {
    const reason = `src: expected the shape of the part to replace, [${view.shape}]`;
    fail("ShapeMismatch", "scatter", `${reason}, got [${src.shape}].`);
  }
}

/** A matrix with all elements of `input` as its diagonal, and zeros elsewhere. */
export const diagflat = /* @__PURE__ */ composite(
  "diagflat",
  "input:tensor offset:int=0",
  (input, offset) => diag(flatten(input), offset),
);

/** Matrices along the axes `dim1` and `dim2` of the result, with the last axis of `input` as their diagonals and zeros elsewhere. */
export const diagEmbed = /* @__PURE__ */ composite(
  "diagEmbed",
  "input:tensor offset:int=0 dim1:int=-2 dim2:int=-1",
  (input, offset, dim1, dim2) => {
    if (input.ndim === 0)
      fail("ShapeMismatch", "diagEmbed", "input: expected at least one dimension.");
    const { dtype, device, ndim } = input;
    const axes = [dim1, dim2].map((dim) => axisOf("diagEmbed", dim, ndim + 1));
    if (axes[0] === axes[1]) {
      fail(
        "InvalidArgument",
        "diagEmbed",
        `dim2: expected a dimension other than dim1, got ${dim1} and ${dim2}.`,
      );
    }
    const size = sizeOf(input, ndim - 1) + Math.abs(offset);
    const shape = input.shape.slice(0, -1);
    for (const axis of axes.sort((a, b) => a - b)) shape.splice(axis, 0, size);
    const result = zeros(shape, { dtype, device });
    return written(result, input, (copy) => diagonal(copy, offset, dim1, dim2));
  },
);
