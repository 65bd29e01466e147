// The same elements in another shape or order.

import type { Ints } from "../dispatch/types.js";
import { clone, contiguous, flatten, flip, narrow, reshape, sum } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { withLeast } from "./shapes.js";

/** All elements in one dimension, contiguous; a view if possible. */
export const ravel = /* @__PURE__ */ composite("ravel", "input:tensor", (input) =>
  flatten(contiguous(input)),
);

interface AtLeast {
  (input: Tensor): Tensor;
  (input: readonly Tensor[]): Tensor[];
}

/** A view with at least one dimension; for a list of tensors, a list of views. */
export const atleast1d = /* @__PURE__ */ atLeast(1);

/** A view with at least two dimensions, with new ones in front; for a list of tensors, a list of views. */
export const atleast2d = /* @__PURE__ */ atLeast(2);

/** A view with at least three dimensions, with a new third one at the end; for a list of tensors, a list of views. */
export const atleast3d = /* @__PURE__ */ atLeast(3);

function atLeast(ndim: 1 | 2 | 3): AtLeast {
  const name = `atleast${ndim}d`;
  return composite<AtLeast>(name, "input:any", (input: unknown) => {
    const tensors: unknown[] = [input].flat();
    const views = tensors.map((tensor) => {
      if (tensor instanceof Tensor) return withLeast(tensor, ndim);
      return fail(
        "InvalidArgument",
        name,
        refusal("input", "a tensor or a list of tensors", tensor),
      );
    });
    return Array.isArray(input) ? views : (views[0] as Tensor);
  });
}

/** The columns of a matrix in reverse order. */
export const fliplr = /* @__PURE__ */ composite("fliplr", "input:tensor", (input) =>
  flippedAlong("fliplr", input, 1),
);

/** The rows of a matrix in reverse order. */
export const flipud = /* @__PURE__ */ composite("flipud", "input:tensor", (input) =>
  flippedAlong("flipud", input, 0),
);

function flippedAlong(name: string, input: Tensor, axis: number): Tensor {
  if (input.ndim > axis) return flip(input, axis);
  return fail(
    "ShapeMismatch",
    name,
    `input: expected ${axis + 1} or more dimensions, got [${input.shape}].`,
  );
}

/** A copy of `length` slices along `dim` from `start` on. */
export const narrowCopy = /* @__PURE__ */ composite(
  "narrowCopy",
  "input:tensor dim:int start:int length:int",
  (input, dim, start, length) => clone(narrow(input, dim, start, length)),
);

interface SumToSize {
  (input: Tensor, size: Ints): Tensor;
  (input: Tensor, ...size: number[]): Tensor;
}

/** The sum over the axes along which a tensor of `size` would be broadcast to the shape of `input`. */
export const sumToSize = /* @__PURE__ */ composite<SumToSize>(
  "sumToSize",
  "input:tensor size:ints",
  (input: Tensor, size: Ints) => {
    const target = [size].flat();
    const extra = input.ndim - target.length;
    const dims = input.shape.flatMap((own, d) =>
      d < extra || (target[d - extra] === 1 && own !== 1) ? [d] : [],
    );
    const isPossible =
      extra >= 0 && target.every((size, d) => size === 1 || size === input.shape[d + extra]);
    if (!isPossible) {
      const reason = `[${target}] does not broadcast to the shape of input, [${input.shape}]`;
      fail("ShapeMismatch", "sumToSize", `size: ${reason}.`);
    }
    return reshape(dims.length === 0 ? input : sum(input, dims, true), target);
  },
);
