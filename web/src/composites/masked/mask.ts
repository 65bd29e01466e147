// How to think about masked ops: an element that the mask leaves out has the value that changes nothing (0 in a sum, -Infinity in a
// maximum), so every op is the ordinary op on a tensor in which those elements are replaced.

import { toDtype } from "../../generated/internal.js";
import { expand, ne, where } from "../../generated/ops.js";
import { iinfo } from "../../ops/number_types.js";
import { fail } from "../../runtime/errors/errors.js";
import { type DType, isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";

/** The value of elements that are left out, for a dtype. */
type Identity = (dtype: DType) => number | bigint;

/** Of sums. */
export const kZero: Identity = () => 0;
/** Of products. */
export const kOne: Identity = () => 1;
/** Of maxima. */
export const kLowest: Identity = (dtype) =>
  isFloat(dtype) ? -Infinity : dtype === "bool" ? 0 : iinfo(dtype).min;
/** Of minima. */
export const kHighest: Identity = (dtype) =>
  isFloat(dtype) ? Infinity : dtype === "bool" ? 1 : iinfo(dtype).max;

/** Returns the mask as bool in the shape of `input`. Throws ShapeMismatch for one that does not broadcast to it. */
export function maskFor(where: string, input: Tensor, mask: Tensor): Tensor {
  if (mask.ndim > input.ndim)
    fail(
      "ShapeMismatch",
      where,
      `mask: expected at most ${input.ndim} dimensions, as the input has, got the shape [${mask.shape}].`,
    );
  return expand(mask.dtype === "bool" ? mask : ne(mask, 0), input.shape);
}

/** Returns `input` with the identity of the reduction where the mask leaves elements out; without a mask, `input` itself. */
export function filled(
  name: string,
  input: Tensor,
  mask: Tensor | null,
  identity: Identity,
): Tensor {
  if (mask === null) return input;
  if (isComplex(input.dtype) && !Number.isFinite(Number(identity("float32"))))
    fail("DtypeMismatch", name, `input: expected real numbers, got ${input.dtype}.`);
  return where(maskFor(name, input, mask), input, identity(input.dtype));
}

/** Casts to a dtype, if there is one. */
export function cast(tensor: Tensor, dtype: DType | null): Tensor {
  return dtype === null || tensor.dtype === dtype ? tensor : toDtype(tensor, dtype);
}
